"""The checks of one commit as values: check runs, jobs, statuses, workflow runs, and what is required."""

from dataclasses import dataclass
from enum import StrEnum

ACTIONS = "github-actions"
FAILING = frozenset({"failure", "timed_out", "startup_failure"})
PASSING = frozenset({"success", "neutral", "skipped"})


class Kind(StrEnum):
    """Where a check comes from, and so where its evidence is."""

    JOB = "job"
    CHECK_RUN = "check_run"
    STATUS = "status"
    WORKFLOW = "workflow"
    SUITE = "suite"


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a commit. `conclusion` is "" until it is complete; times are Unix seconds, 0 where unknown.

    A STATUS has its description in `title`. A WORKFLOW is a run whose own conclusion none of its jobs explains: it has
    none, as with a broken workflow file, or all that it lists are green. A SUITE is the same of an app's check suite.
    `id` is the check run's, the status's, the workflow run's or the suite's, and the only identity there is: names
    repeat. `undecided`: its workflow run has not ended, and may yet succeed in spite of it.
    `in_queue`: it ran on the commit that a merge queue made of the pull request and its base. `branch` is its run's.
    """

    kind: Kind
    id: int
    name: str
    app_id: int
    app: str
    conclusion: str
    waiting: bool = False
    suite_id: int = 0
    run_id: int = 0
    run_attempt: int = 0
    workflow: str = ""
    url: str = ""
    external_id: str = ""
    title: str = ""
    summary: str = ""
    text: str = ""
    annotations: int = 0
    changed_at: float = 0.0
    required: bool = False
    workflow_id: int = 0
    path: str = ""
    started_at: float = 0.0
    completed_at: float = 0.0
    undecided: bool = False
    in_queue: bool = False
    branch: str = ""

    @property
    def shown_name(self) -> str:
        """The name, with where it ran if that is not the commit itself."""
        return f"{self.name} (merge queue)" if self.in_queue else self.name

    @property
    def completed(self) -> bool:
        """Whether it has come to an end."""
        return bool(self.conclusion)

    @property
    def lineage(self) -> tuple[Kind, int, int, str]:
        """What makes it the same check on another commit, where every id is another one."""
        return self.kind, self.app_id, self.workflow_id, self.name


@dataclass(frozen=True, slots=True)
class Required:
    """A check that a branch protection or a ruleset wants. `app_id` 0: from any app.

    With `workflow` it is a whole workflow, and `name` the path of its file, here or in another repository.
    """

    name: str
    app_id: int = 0
    workflow: bool = False

    def matches(self, check: Check) -> bool:
        """Whether `check` answers it. What a person or another app says does not answer what is wanted of one app."""
        if self.workflow:
            return bool(check.path) and check.path.endswith(self.name)
        named = check.kind in (Kind.JOB, Kind.CHECK_RUN, Kind.STATUS) and check.name == self.name
        return named and (not self.app_id or check.app_id == self.app_id)


@dataclass(frozen=True, slots=True)
class Run:
    """A workflow run. `status` is queued, in_progress, waiting, requested, pending or completed."""

    id: int
    attempt: int
    workflow_id: int
    name: str
    path: str
    event: str
    status: str
    conclusion: str
    suite_id: int
    url: str
    changed_at: float
    branch: str = ""
    created_at: float = 0.0

    @property
    def open(self) -> bool:
        """Whether it goes on by itself; one that waits for a person does not."""
        return self.status not in ("completed", "waiting")


@dataclass(frozen=True, slots=True)
class Excused:
    """A check that is not green and does not count. `why` completes "`name` " to a sentence for people."""

    check: Check
    why: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was found for a commit, our own checks left out. `excused` are those that GitHub itself forgives."""

    sha: str
    checks: tuple[Check, ...] = ()
    required: tuple[Required, ...] = ()
    open_suites: int = 0
    changed_at: float = 0.0
    conflicted: bool = False
    undecided: bool = False  # GitHub does not know yet whether the pull request merges
    excused: tuple[Excused, ...] = ()
    runs: tuple[Run, ...] = ()
    truncated: bool = False  # there are more checks than were read
