"""The states and kinds that rows carry: closed sets, stored as the text they are."""

from enum import IntEnum, StrEnum
from typing import Any

from sqlalchemy import Dialect, String, TypeDecorator


class SessionStatus(StrEnum):
    """Where a session stands; WAITING is for its checks. The moves are in `loops.sessions.transitions`."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TurnStatus(StrEnum):
    """QUEUED waits for its place and a box (with `box` it has its place), READY may be taken by its box, RUNNING was
    taken, REPORTED has its result stored."""

    QUEUED = "queued"
    READY = "ready"
    RUNNING = "running"
    REPORTED = "reported"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TurnKind(StrEnum):
    """What a turn works on, which decides its prompt."""

    ISSUE = "issue"
    PULL = "pull"
    REVIEW = "review"
    CHECKS = "checks"
    CONFLICT = "conflict"


class Trigger(StrEnum):
    """What began a session or a turn: an act on GitHub (as in `github.webhooks.outcomes.Why`), a call, or we ourselves.

    AUTOFIX: nothing has begun yet, it is only remembered whether red checks are repaired.
    """

    MENTION = "mention"
    ASSIGNED = "assigned"
    LABELED = "labeled"
    CHANGES_REQUESTED = "changes_requested"
    BUTTON = "button"
    RERUN = "rerun"
    STARTED = "started"
    CHECKS = "checks"
    CONFLICT = "conflict"
    AUTOFIX = "autofix"


class Origin(StrEnum):
    """The surface through which a session was asked for."""

    GITHUB = "github"
    API = "api"
    MCP = "mcp"
    CLI = "cli"
    PAGE = "page"


class SubjectKind(StrEnum):
    """What a session is about; BRANCH is a red branch without a pull request."""

    ISSUE = "issue"
    PULL = "pull"
    BRANCH = "branch"


class PullState(StrEnum):
    """What GitHub says of a session's pull request."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class Lane(IntEnum):
    """Which deliveries come first: the lower, the sooner.

    PEOPLE, NEWS and HINTS were not looked at yet, and are told apart by event and action alone. The others were, and
    each is handled on its own: what a person asks for, what changed at GitHub, a look at checks that nobody waits for.
    """

    PEOPLE = 0
    NEWS = 1
    HINTS = 2
    REQUEST = 3
    CHANGE = 4
    LOOK = 5


OPEN_SESSION = (SessionStatus.PENDING, SessionStatus.RUNNING, SessionStatus.WAITING)
OPEN_TURN = (TurnStatus.QUEUED, TurnStatus.READY, TurnStatus.RUNNING, TurnStatus.REPORTED)


class EnumText(TypeDecorator[StrEnum]):
    """A column that holds the value of a StrEnum as text. Reading a text that is none of them raises ValueError."""

    impl = String
    cache_ok = True

    def __init__(self, kind: type[StrEnum], length: int) -> None:
        super().__init__(length)
        self.kind = kind

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else self.kind(value).value

    def process_result_value(self, value: Any, dialect: Dialect) -> StrEnum | None:
        return None if value is None else self.kind(value)
