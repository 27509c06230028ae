"""Workflow runs of the CI engine and their jobs."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from github.emulator.store.checks import CheckRun, CheckSuite
from github.emulator.store.repositories import Repository
from github.emulator.store.users import User


@dataclass(eq=False)
class Workflow:
    id: int
    repository: Repository
    path: str
    name: str
    created_at: datetime


@dataclass(eq=False)
class Run:
    """A workflow run. `checkout_sha` is what its jobs check out: a pull request's test merge, or the head.

    `past` holds it as it was at the end of each attempt before this one.
    """

    id: int
    repository: Repository
    workflow: Workflow
    name: str
    title: str
    event: str
    ref: str
    head_sha: str
    checkout_sha: str
    head_branch: str | None
    head_repository: Repository | None
    number: int
    suite: CheckSuite
    actor: User
    triggering_actor: User
    created_at: datetime
    updated_at: datetime
    started_at: datetime
    action: str | None = None
    pull_number: int | None = None
    base_ref: str | None = None
    base_sha: str | None = None
    before: str | None = None
    attempt: int = 1
    status: str = "queued"
    conclusion: str | None = None
    cancelled: bool = False
    inputs: dict[str, Any] = field(default_factory=dict)
    payload: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    past: "dict[int, Run]" = field(default_factory=dict)


@dataclass(eq=False)
class Artifact:
    """A zip that a job of a run left."""

    id: int
    run: Run
    attempt: int
    name: str
    content: bytes
    created_at: datetime


@dataclass(eq=False)
class Step:
    name: str
    number: int
    status: str = "queued"
    conclusion: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None


@dataclass(eq=False)
class Job:
    """A job of one attempt of a run. `log` is None until the job has one.

    `key` is its id in the workflow file; all combinations of its matrix share it, and may share the name.
    """

    id: int
    run: Run
    attempt: int
    key: str
    name: str
    labels: list[str]
    check: CheckRun
    created_at: datetime
    status: str = "queued"
    conclusion: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    steps: list[Step] = field(default_factory=list)
    log: bytes | None = None
    matrix: dict[str, object] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
