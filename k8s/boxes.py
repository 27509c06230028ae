"""Boxes: the places where turns run, one for each person, whatever they are made of.

The loop knows only this interface. `k8s.local.LocalBoxes` makes boxes of local processes, the cluster makes them of
pods. In every box runs the same runner (`k8s.runner`), which asks the service for turns; nobody calls into a box.
"""

import enum
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

NAME_PATTERN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


class BoxState(enum.Enum):
    """What is known of a box. `unknown` means that nobody could be asked, never that the box is gone."""

    ABSENT = "absent"
    STARTING = "starting"
    RUNNING = "running"
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
    of another one are never touched), `installation` and `person` (GitHub's numeric ids). `token` is the bearer token
    of the runner inside. `image` and `env` override what the implementation has as its default.
    """

    name: str
    owner_key: str
    labels: Mapping[str, str]
    token: str = field(repr=False)
    service_url: str
    image: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not NAME_PATTERN.fullmatch(self.name):
            raise ValueError(f"box name {self.name!r} is no DNS label: use box_name(…) to make one")


@dataclass(frozen=True, kw_only=True)
class BoxStatus:
    """What a box is like now.

    `message` is a sentence for people, empty while all is well. `permanent` says that waiting will not mend it:
    somebody has to change something. `started_at` is aware, and None unless the box has started.
    """

    name: str
    state: BoxState
    message: str = ""
    permanent: bool = False
    started_at: datetime | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """Whether its runner asks for turns now, or soon will."""
        return self.state in (BoxState.STARTING, BoxState.RUNNING)

    @property
    def may_come(self) -> bool:
        """Whether it may still come to run without anybody doing anything: a node may appear, a registry come back."""
        waits = self.state in (BoxState.UNSCHEDULABLE, BoxState.IMAGE_ERROR)
        return self.usable or (waits and not self.permanent)


class BoxesUnavailable(Exception):
    """The place that holds the boxes did not answer, or refuses us. Nothing is known about any box; try again later."""


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

    async def close(self) -> None:
        """Let go of connections and watches. Boxes go on."""
        ...


def box_name(instance: str, installation: int, person: int) -> str:
    """The name of the box of `person` for `installation`: a DNS label of at most 63 characters.

    Made from numeric ids, since logins and repositories get renamed. An instance name that is too long, or has
    characters that a DNS label has not, is cut and made distinct by a hash.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", instance.lower()).strip("-")
    if plain != instance or len(plain) > 20:
        digest = hashlib.sha256(instance.encode()).hexdigest()[:8]
        plain = f"{plain[:11].strip('-') or 'x'}-{digest}"
    return f"gl-{plain}-{installation}-{person}"
