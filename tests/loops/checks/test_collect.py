"""Which logs are fetched of red checks: one for a job that failed alike for a push and for its pull request."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from github.checks import logs
from github.checks.logs import FailedCheckLogs, Job, Left, Step
from github.checks.model import Check, Kind
from github.client.errors import Gone
from github.client.repository import RepositoryHandle
from loops.checks import collect as module
from loops.checks.collect import CollectedCheck, collect, failures
from loops.checks.distiller import Distiller
from loops.evidence.check import distill_check

PUSHED = Check(Kind.JOB, 1, "test", 2, "github-actions", "failure", run_id=10, run_attempt=1, workflow_id=5)
PULLED = replace(PUSHED, id=2, run_id=11)


class GitHub:
    """Each check's log says its id, unless it is gone; `steps` are those that failed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: dict[int, str] = {}
        self.gone: set[int] = set()
        self.fetched: list[int] = []
        self.listed: list[int] = []
        monkeypatch.setattr(logs, "evidence", self._evidence)
        monkeypatch.setattr(module, "report_files", self._reports)

    async def _evidence(self, _repo: object, check: Check, _known: Left | None) -> FailedCheckLogs:
        step = Step(1, self.steps.get(check.id, "Run tests"), "failure")
        job = Job(check.id, check.name, "completed", "failure", (step,), check.id)
        return FailedCheckLogs(check, job=job, log=lambda: self._open(check.id))

    @contextlib.asynccontextmanager
    async def _open(self, number: int) -> AsyncIterator[AsyncIterator[bytes]]:
        async def pieces() -> AsyncIterator[bytes]:
            yield str(number).encode()

        if number in self.gone:
            raise Gone("it is past its retention")
        self.fetched.append(number)
        yield pieces()

    async def _reports(self, _repo: object, run: int) -> list[object]:
        self.listed.append(run)
        return []

    async def reports(self, _files: object) -> list[object]:
        return []

    async def log(self, number: int, _path: object, _about: object) -> Any:
        distilled = distill_check(f"log of {number}", None, annotations=(), budget=1000, changed_files=())
        return SimpleNamespace(distilled=distilled, packed=b"x", size=1)

    async def collect(self, *red: Check) -> list[CollectedCheck]:
        repo = cast(RepositoryHandle, None)
        return await collect(cast(Distiller, self), repo, red, budget=1000, changed_files=(), redact=str)


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> GitHub:
    return GitHub(monkeypatch)


async def test_one_log_speaks_for_a_job_that_failed_in_the_same_step_of_two_runs(github: GitHub) -> None:
    found = await github.collect(PUSHED, PULLED)
    assert [each.check for each in found] == [PUSHED, PULLED]
    assert (github.fetched, github.listed) == ([1], [10])
    (failure,) = failures(found)
    assert failure.checks == (PUSHED, PULLED)


@pytest.mark.parametrize(
    "other",
    [
        replace(PULLED, name="lint"),
        replace(PULLED, workflow_id=6),
        replace(PULLED, conclusion="timed_out"),
        replace(PULLED, in_queue=True),
        replace(PULLED, run_id=10),
    ],
    ids=["another job", "another workflow", "another end", "in a merge queue", "the same run: of a matrix"],
)
async def test_what_is_another_job_has_its_own_log(github: GitHub, other: Check) -> None:
    await github.collect(PUSHED, other)
    assert sorted(github.fetched) == [1, 2]


async def test_a_job_that_failed_in_another_step_has_its_own_log(github: GitHub) -> None:
    github.steps[2] = "Set up"
    await github.collect(PUSHED, PULLED)
    assert sorted(github.fetched) == [1, 2]


async def test_where_the_one_log_is_gone_the_other_is_read(github: GitHub) -> None:
    github.gone = {1}
    found = await github.collect(PUSHED, PULLED)
    assert github.fetched == [2]
    assert [bool(each.log) for each in found] == [False, True]
