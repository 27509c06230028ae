"""What a webhook event means to Greenloop: the values that `github.webhooks.triggers.decide` gives back."""

from dataclasses import dataclass
from enum import StrEnum

from github.webhooks.commands import Command
from github.webhooks.sources import Source


class Why(StrEnum):
    """What made somebody's act a request."""

    MENTION = "mention"
    ASSIGNED = "assigned"
    LABELED = "labeled"
    CHANGES_REQUESTED = "changes_requested"
    BUTTON = "button"
    RERUN = "rerun"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it. `id` is 0 for a deleted person ("ghost")."""

    id: int
    login: str
    bot: bool = False


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository by its lasting id; `full_name` is how it was called at the time of the event."""

    id: int
    full_name: str
    installation_id: int
    default_branch: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """The issue or pull request. `head_*` is empty where the event does not say it (comments): ask GitHub."""

    number: int
    is_pull: bool
    title: str = ""
    body: str = ""
    author: Actor | None = None
    head_ref: str = ""
    head_sha: str = ""
    head_repository_id: int = 0
    base_ref: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """Somebody asks for something. Whether they may is not decided yet: see `github.apps.access`.

    `subject` is None only for buttons of a check run, whose `source` says which. `label` is the one that was set, which
    only the repository's settings can say to be ours.
    """

    why: Why
    repo: Repo
    actor: Actor
    source: Source
    command: Command
    subject: Subject | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Hint:
    """Something about the checks of `sha` changed: time to ask GitHub for their whole state.

    `pulls` lists pull requests of this repository only; it is empty for forks. `failed` says that it speaks of a
    failure, so that an unwatched commit may be worth a look. `queued_pull` is the pull request that a merge queue made
    the commit of, merged with its base; 0 for all others.
    """

    repo: Repo
    sha: str
    source: str
    branch: str = ""
    pulls: tuple[int, ...] = ()
    run_id: int = 0
    run_attempt: int = 0
    failed: bool = False
    queued_pull: int = 0


class Change(StrEnum):
    """A change of the world that open sessions have to know of."""

    INSTALLED = "installed"
    UNINSTALLED = "uninstalled"
    SUSPENDED = "suspended"
    UNSUSPENDED = "unsuspended"
    PERMISSIONS_ACCEPTED = "permissions_accepted"
    REPOSITORIES_ADDED = "repositories_added"
    REPOSITORIES_REMOVED = "repositories_removed"
    RENAMED = "renamed"
    TRANSFERRED = "transferred"
    ARCHIVED = "archived"
    UNARCHIVED = "unarchived"
    REPOSITORY_DELETED = "repository_deleted"
    DEFAULT_BRANCH_CHANGED = "default_branch_changed"
    BRANCH_MOVED = "branch_moved"
    BRANCH_DELETED = "branch_deleted"
    PULL_OPENED = "pull_opened"
    PULL_READY = "pull_ready"
    PULL_REOPENED = "pull_reopened"
    PULL_CLOSED = "pull_closed"
    PULL_MERGED = "pull_merged"
    ISSUE_CLOSED = "issue_closed"
    ISSUE_DELETED = "issue_deleted"
    ISSUE_TRANSFERRED = "issue_transferred"
    COMMENT_DELETED = "comment_deleted"


@dataclass(frozen=True, slots=True)
class LifecycleEvent:
    """A `Change`, with those of the fields below that belong to it.

    BRANCH_*: `branch`, `before`, `after` (full SHAs, "" where it did not or does not exist).
    COMMENT_DELETED: `source`. PULL_*, ISSUE_*: `subject`. REPOSITORIES_*, INSTALLED: `repositories`.
    """

    change: Change
    installation_id: int
    repo: Repo | None = None
    actor: Actor | None = None
    account: Actor | None = None
    repositories: tuple[Repo, ...] = ()
    subject: Subject | None = None
    source: Source | None = None
    branch: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing to do, for `reason`. Nobody expects an answer."""

    reason: str


@dataclass(frozen=True, slots=True)
class Declined:
    """Greenloop was addressed and says no. `answer` is what to tell the person; empty where that might start a loop.

    With `label`, it was addressed only if that label is ours.
    """

    reason: str
    repo: Repo
    actor: Actor
    source: Source
    subject: Subject | None = None
    answer: str = ""
    label: str = ""


Outcome = Request | Hint | LifecycleEvent | Ignored | Declined
