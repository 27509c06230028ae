"""What a box runs to see whether a turn's work holds, and what came of it: the shapes on both sides.

Standard library only, and Python 3.9, as the protocol they are part of.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

OUTPUT_BYTES = 200_000
"""Most bytes of a trial's output that a result holds: the last ones."""

# How a trial ended (`Trial.how`).
PASSED = "passed"
FAILED = "failed"
SET_UP_FAILED = "set_up_failed"
TIMEOUT = "timeout"
NOT_RUN = "not_run"
HOWS = (PASSED, FAILED, SET_UP_FAILED, TIMEOUT, NOT_RUN)


@dataclass(frozen=True)
class BoxCommand:
    """A script for `shell` (as GitHub names shells; "" is `bash -e`) in `directory` of the checkout.

    `forgiven`: what comes after it runs although it failed.
    """

    run: str
    id: str = ""
    title: str = ""
    shell: str = ""
    directory: str = "."
    env: dict[str, str] = field(default_factory=dict)
    forgiven: bool = False


@dataclass(frozen=True)
class Overlay:
    """A path of the checkout as it is to be before anything runs: the blob `sha` with `mode`, or (None) not there."""

    path: str
    mode: str = "100644"
    sha: str | None = None


@dataclass(frozen=True)
class Verification:
    """`setup` makes a fresh box ready, within `setup_seconds`; then `check` tells by its exit code whether all is well,
    within `seconds`. `reproduce`: it is also tried before the agent begins. `overlay` is laid over the commit first."""

    check: list[BoxCommand]
    setup: list[BoxCommand] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    setup_seconds: float = 900.0
    seconds: float = 900.0
    reproduce: bool = True
    overlay: list[Overlay] = field(default_factory=list)


@dataclass(frozen=True)
class Trial:
    """One run of the check. `output` is the end of what was printed; of a set-up that failed, what that printed."""

    how: str
    exit_code: int | None = None
    output: str = field(default="", repr=False)
    seconds: float = 0.0


@dataclass(frozen=True)
class Trials:
    """What a result says: the check as it ended before the agent began, and on just the files that it would publish."""

    before: Trial | None = None
    after: Trial | None = None


def verification_from_json(raw: Any) -> Verification | None:
    """What the service wants run; None where it wants nothing. Raises ValueError."""
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise ValueError(f"verification is {type(raw).__name__}, not an object")
    return Verification(
        check=[_known(BoxCommand, each) for each in raw.get("check") or ()],
        setup=[_known(BoxCommand, each) for each in raw.get("setup") or ()],
        env={str(name): str(value) for name, value in (raw.get("env") or {}).items()},
        setup_seconds=float(raw.get("setup_seconds") or 900.0),
        seconds=float(raw.get("seconds") or 900.0),
        reproduce=bool(raw.get("reproduce", True)),
        overlay=[_known(Overlay, each) for each in raw.get("overlay") or ()],
    )


def trials_from_json(raw: Any) -> Trials:
    """What a runner reports. Raises ValueError."""
    if not isinstance(raw, dict):
        return Trials()
    return Trials(*(_trial(raw.get(name)) for name in ("before", "after")))


def _trial(raw: Any) -> Trial | None:
    if raw is None:
        return None
    trial: Trial = _known(Trial, raw)
    if trial.how not in HOWS:
        raise ValueError(f"a trial that ended as {trial.how!r} is not known")
    return trial


def _known(cls: Any, raw: Any) -> Any:
    """Build `cls` from the fields it knows, so that either side may be newer. Raises ValueError."""
    if not isinstance(raw, dict):
        raise ValueError(f"{cls.__name__} is {type(raw).__name__}, not an object")
    try:
        return cls(**{name: raw[name] for name in cls.__dataclass_fields__ if raw.get(name) is not None})
    except TypeError as error:
        raise ValueError(f"{cls.__name__}: {error}") from None
