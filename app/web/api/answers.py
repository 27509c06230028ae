"""What the API answers, beside the sessions that every surface shows. Times are UNIX seconds."""

from dataclasses import dataclass

from loops.operations import Brief, Happened


@dataclass(frozen=True)
class Me:
    """Whom the token acts for: a `person`, or the `operator`, who has no login. `scopes` are what it was made for."""

    kind: str
    login: str | None
    scopes: tuple[str, ...]


@dataclass(frozen=True)
class Began:
    """A session that was started or tried again."""

    session: str
    status: str


@dataclass(frozen=True)
class Ending:
    """A session whose end was asked for; `was_open` is false for one that had ended before."""

    session: str
    status: str
    was_open: bool


@dataclass(frozen=True)
class SessionPage:
    """Sessions, newest first; `next` is the cursor of the next page. A page may be short, or empty, and have one."""

    sessions: tuple[Brief, ...]
    next: str | None


@dataclass(frozen=True)
class EventPage:
    """Events, oldest first; `next` is the `after` of the next page, null where there is no more for now."""

    events: tuple[Happened, ...]
    next: int | None


@dataclass(frozen=True)
class AccountBrief:
    """A provider account, without its secret. `owner` is `person` or `installation`; `runtimes` are the agents that it
    can drive; `limited_until`: its provider refused it, and no turn uses it before."""

    id: int
    installation: int
    owner: str
    name: str
    provider: str
    kind: str
    model: str | None
    default: bool
    fallback: str | None
    runtimes: tuple[str, ...]
    limited_until: float | None


@dataclass(frozen=True)
class AccountPage:
    """Accounts, oldest first."""

    accounts: tuple[AccountBrief, ...]


@dataclass(frozen=True)
class RepositoryBrief:
    """A repository in which the caller may ask for work."""

    id: int
    full_name: str
    default_branch: str
    private: bool
    archived: bool
    installation: int


@dataclass(frozen=True)
class RepositoryPage:
    """Repositories by their ids; `next` is the cursor of the next page. A page may be short, or empty, and have one."""

    repositories: tuple[RepositoryBrief, ...]
    next: str | None
