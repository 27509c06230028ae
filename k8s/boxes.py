"""Boxes: the places where turns run, a person's for one repository, whatever they are made of.

The loop knows only this interface. `k8s.local.LocalBoxes` makes boxes of local processes, the cluster makes them of
pods. In every box runs the same runner (`k8s.runner`), which asks the service for turns; nobody calls into a box.
"""

import enum
import hashlib
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

NAME_PATTERN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
LONGEST_NAME = 57


class BoxState(enum.Enum):
    """What is known of a box. `unknown` means that nobody could be asked, never that the box is gone.

    `full`: it could not be made, for there is no place left; `unschedulable`: it was made, and no machine takes it.
    """

    ABSENT = "absent"
    STARTING = "starting"
    RUNNING = "running"
    FULL = "full"
    UNSCHEDULABLE = "unschedulable"
    IMAGE_ERROR = "image_error"
    OOM_KILLED = "oom_killed"
    EVICTED = "evicted"
    LOST = "lost"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class BoxSpec:
    """What a box has to be. Two equal specs are the same box; the token is never shown by `repr`.

    `name` is a DNS label, made by `box_name`. `labels` has at least `instance` (this installation of Greenloop: boxes
    of another one are never touched), `installation` and `person` (GitHub's numeric ids; `repository` too where the box
    is for one). `token` is the bearer token of the runner inside. No turn runs in an `idle` one: what the former
    release made of it is replaced. `image` and `env` override what the implementation has as its default.
    """

    name: str
    owner_key: str
    labels: Mapping[str, str]
    token: str = field(repr=False)
    service_url: str
    idle: bool = False
    image: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not NAME_PATTERN.fullmatch(self.name):
            raise ValueError(f"box name {self.name!r} is no DNS label: use box_name(…) to make one")


@dataclass(frozen=True, kw_only=True)
class BoxStatus:
    """What a box is like now.

    `message` is a sentence for people, empty while all is well. `permanent` says that waiting will not mend it:
    somebody has to change something; `crowded` that it would come if other boxes made room. `started_at` is aware, and
    None unless the box has started.
    """

    name: str
    state: BoxState
    message: str = ""
    permanent: bool = False
    crowded: bool = False
    started_at: datetime | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """Whether its runner asks for turns now, or soon will."""
        return self.state in (BoxState.STARTING, BoxState.RUNNING)

    @property
    def may_come(self) -> bool:
        """Whether it may still come to run without anybody doing anything: a node may appear, a registry come back."""
        waits = self.state in (BoxState.FULL, BoxState.UNSCHEDULABLE, BoxState.IMAGE_ERROR)
        return self.usable or (waits and not self.permanent)


@dataclass(frozen=True, kw_only=True)
class Known:
    """What the database knows of a box. `busy`: a turn runs or waits in it. `used_at`: end of the last, Unix time."""

    busy: bool
    used_at: float
    spare: bool = False


@dataclass(frozen=True)
class Reconciled:
    """`deleted`: boxes of which something was deleted that nobody owned; `missing`: busy boxes that are not there."""

    deleted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class BoxesUnavailable(Exception):
    """The place that holds the boxes did not answer, or refuses us. Nothing is known about any box; try again later.

    `told` is a sentence for people on why, empty where no more is known.
    """

    def __init__(self, message: str, told: str = "") -> None:
        super().__init__(message)
        self.told = told


class Boxes(Protocol):
    """Makes, finds and ends boxes. Every method may be called twice, at once, and from several processes."""

    async def ensure(self, spec: BoxSpec) -> BoxStatus:
        """Make the box, or adopt the one that is there. Raises `BoxesUnavailable`."""
        ...

    async def status(self, name: str) -> BoxStatus:
        """Look the box up; `absent` when there is none. Raises `BoxesUnavailable`."""
        ...

    async def stop(self, name: str) -> None:
        """End the box and every process in it; its home stays. No error when there is none."""
        ...

    async def delete_home(self, name: str) -> None:
        """Delete the box's home for good, after ending the box. No error when there is none."""
        ...

    async def list(self) -> list[BoxStatus]:
        """All boxes of this installation of Greenloop, running or not. Raises `BoxesUnavailable`."""
        ...

    def troubles(self) -> AsyncIterator[BoxStatus]:
        """Yield each box that is not usable, or stops being so, as soon as it is seen; without end."""
        ...

    async def reconcile(
        self,
        known: Mapping[str, Known],
        *,
        confirm: Callable[[str], Awaitable[bool]],
        now: float,
        idle_seconds: float,
        home_seconds: float,
    ) -> Reconciled:
        """Compare what is there with `known`, all boxes of the database, and delete what nobody owns.

        A box that is not `known` goes once it has a certain age, one that is idle after `idle_seconds`, its home after
        `home_seconds`; each only if `confirm` says right before that it is still free. Raises `BoxesUnavailable`.
        """
        ...

    async def close(self) -> None:
        """Let go of connections and watches. Boxes go on."""
        ...


def box_name(
    instance: str, installation: int, person: int, *, repository: int | None = None, session: int | None = None
) -> str:
    """The name of the box of `person` for `installation`, for one repository in it, or for one session: a DNS label.

    Made from numeric ids, since logins and repositories get renamed. It leaves room for what stands behind it in the
    names of the box's home and secret.
    """
    owner = f"{installation}-{person}"
    if repository is not None:
        owner += f"-r{repository}"
    if session is not None:
        owner += f"-{session}"
    name = f"gl-{_slug(instance)}-{owner}"
    if len(name) <= LONGEST_NAME:
        return name
    return f"gl-{_slug(instance)}-{hashlib.sha256(owner.encode()).hexdigest()[:20]}"


def spare_name(instance: str) -> str:
    """A name that no box has, for one that is nobody's yet."""
    return f"gl-{_slug(instance)}-spare-{secrets.token_hex(5)}"


def _slug(instance: str) -> str:
    """At most 20 characters of a DNS label. A name that is too long, or has others, is cut and made distinct."""
    plain = re.sub(r"[^a-z0-9]+", "-", instance.lower()).strip("-")
    if plain == instance and len(plain) <= 20:
        return plain
    digest = hashlib.sha256(instance.encode()).hexdigest()[:8]
    return f"{plain[:11].strip('-') or 'x'}-{digest}"
