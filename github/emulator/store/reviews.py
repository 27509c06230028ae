"""Reviews, their comments on lines, and the threads these make."""

from dataclasses import dataclass, field
from datetime import datetime

from github.emulator.store.issues import Pull
from github.emulator.store.reactions import Reaction
from github.emulator.store.users import User


@dataclass(eq=False)
class Review:
    """A review. `state` is PENDING, COMMENTED, APPROVED, CHANGES_REQUESTED or DISMISSED."""

    id: int
    pull: Pull
    user: User | None
    body: str
    state: str
    commit_id: str
    submitted_at: datetime | None
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(eq=False)
class Thread:
    """A conversation on one place of a diff."""

    id: int
    pull: Pull
    resolved: bool = False
    resolved_by: User | None = None


@dataclass(eq=False)
class ReviewComment:
    """A comment on a line. `line` None with `original_line` set is an outdated one."""

    id: int
    pull: Pull
    review: Review
    thread: Thread
    user: User | None
    body: str
    path: str
    commit_id: str
    original_commit_id: str
    diff_hunk: str
    created_at: datetime
    updated_at: datetime
    line: int | None = None
    original_line: int | None = None
    start_line: int | None = None
    side: str = "RIGHT"
    start_side: str | None = None
    subject_type: str = "line"
    in_reply_to: int | None = None
    position: int = 1
    reactions: list[Reaction] = field(default_factory=list)
    minimized: str | None = None
