"""Repositories with their collaborators, labels, protections and rulesets."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from github.emulator.git.repository import GitRepository
from github.emulator.store.users import User

ROLES = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass(eq=False)
class Label:
    id: int
    name: str
    color: str = "ededed"
    description: str | None = None
    default: bool = False


@dataclass(eq=False)
class Protection:
    """Classic branch protection of one branch."""

    contexts: list[str] = field(default_factory=list)
    app_ids: dict[str, int] = field(default_factory=dict)
    strict: bool = False
    refuse_pushes: bool = True
    approvals: int = 0


@dataclass(eq=False)
class Ruleset:
    """A ruleset: fnmatch patterns of full ref names (or `~ALL`, `~DEFAULT_BRANCH`) and its rules in GitHub's shape.

    `bypass` are the ids of the Apps that it does not bind.
    """

    id: int
    name: str
    include: list[str]
    rules: list[dict[str, Any]]
    exclude: list[str] = field(default_factory=list)
    active: bool = True
    bypass: list[int] = field(default_factory=list)


@dataclass(eq=False)
class Repository:
    """A repository. Everything is keyed on `id`: names change. `moved`: when each ref was last made or moved.

    `guarded_environments` are those whose jobs wait for somebody to approve.
    """

    id: int
    owner: User
    name: str
    git: GitRepository
    default_branch: str
    created_at: datetime
    updated_at: datetime
    pushed_at: datetime
    private: bool = True
    archived: bool = False
    disabled: bool = False
    description: str | None = None
    has_issues: bool = True
    allow_auto_merge: bool = False
    allow_update_branch: bool = False
    allow_drafts: bool = True
    delete_branch_on_merge: bool = False
    parent: "Repository | None" = None
    roles: dict[int, str] = field(default_factory=dict)
    custom_roles: dict[int, str] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    protections: dict[str, Protection] = field(default_factory=dict)
    rulesets: list[Ruleset] = field(default_factory=list)
    auto_suites: dict[int, bool] = field(default_factory=dict)
    guarded_environments: set[str] = field(default_factory=set)
    moved: dict[str, datetime] = field(default_factory=dict)
    last_number: int = 0
    last_run_number: dict[str, int] = field(default_factory=dict)
    deleted: bool = False

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"

    @property
    def visibility(self) -> str:
        return "private" if self.private else "public"

    def next_number(self) -> int:
        """The next number: issues and pull requests share one series."""
        self.last_number += 1
        return self.last_number

    def role_of(self, user: User | None) -> str:
        """The role of a person: none, read, triage, write, maintain or admin."""
        if user is not None:
            if user.id == self.owner.id:
                return "admin"
            if user.id in self.roles:
                return self.roles[user.id]
        return "none" if self.private else "read"

    def allows(self, user: User | None, role: str) -> bool:
        return ROLES.index(self.role_of(user)) >= ROLES.index(role)
