"""Check suites and check runs."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from github.emulator.store.apps import App
from github.emulator.store.repositories import Repository


@dataclass(eq=False)
class CheckSuite:
    """One suite per App and commit; for Actions one per workflow run."""

    id: int
    repository: Repository
    app: App
    head_sha: str
    head_branch: str | None
    before: str | None
    after: str | None
    created_at: datetime
    updated_at: datetime
    status: str = "queued"
    conclusion: str | None = None
    run_id: int | None = None


@dataclass(eq=False)
class CheckRun:
    """A check run. `annotations` are in the shape of the REST answer, without `blob_href`."""

    id: int
    suite: CheckSuite
    name: str
    status: str
    created_at: datetime
    conclusion: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    details_url: str | None = None
    external_id: str = ""
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[dict[str, Any]] = field(default_factory=list)
    actions: list[dict[str, str]] = field(default_factory=list)
    job_id: int | None = None
    superseded: bool = False

    @property
    def head_sha(self) -> str:
        return self.suite.head_sha
