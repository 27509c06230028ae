"""The part of a pull request that an issue has not."""

from dataclasses import dataclass, field
from datetime import datetime

from github.emulator.store.issues import Issue
from github.emulator.store.repositories import Repository
from github.emulator.store.users import User


@dataclass(eq=False)
class Pull:
    """A pull request. `head_repository` None is a deleted fork. `mergeable` None is not yet computed."""

    id: int
    issue: Issue
    head_repository: Repository | None
    head_label: str
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
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
