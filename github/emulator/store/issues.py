"""Issues and pull requests: a pull request is an issue with a `pull`."""

from dataclasses import dataclass, field
from datetime import datetime

from github.emulator.store.apps import App
from github.emulator.store.reactions import Reaction
from github.emulator.store.repositories import Label, Repository
from github.emulator.store.users import User


@dataclass(eq=False)
class Issue:
    """An issue. `user` None is a deleted account."""

    id: int
    repository: Repository
    number: int
    title: str
    body: str | None
    user: User | None
    created_at: datetime
    updated_at: datetime
    state: str = "open"
    state_reason: str | None = None
    locked: bool = False
    lock_reason: str | None = None
    closed_at: datetime | None = None
    closed_by: User | None = None
    labels: list[Label] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    via_app: App | None = None
    pull: "Pull | None" = None
    deleted: bool = False


@dataclass(eq=False)
class Pull:
    """The part of a pull request that an issue has not.

    `base_sha` follows the base branch, `shown_base_sha` (`base.sha` of the API) is where that was when the pull request
    was opened or last pushed to. `head_repository` None is a deleted fork. `mergeable` None is not yet computed.
    """

    id: int
    issue: Issue
    head_repository: Repository | None
    head_label: str
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    shown_base_sha: str
    draft: bool = False
    maintainer_can_modify: bool = False
    merged_at: datetime | None = None
    merged_by: User | None = None
    mergeable: bool | None = None
    merge_sha: str | None = None
    merge_of: tuple[str, str] | None = None
    requested_reviewers: list[User] = field(default_factory=list)

    @property
    def repository(self) -> Repository:
        return self.issue.repository

    @property
    def number(self) -> int:
        return self.issue.number

    @property
    def open(self) -> bool:
        return self.issue.state == "open"

    @property
    def crosses_repositories(self) -> bool:
        return self.head_repository is not self.issue.repository
