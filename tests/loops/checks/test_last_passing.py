"""What is kept and what is fetched of a job's passing logs, on both databases."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sqlalchemy import select

from github.checks.logs import FailedCheckLogs
from github.checks.passing_jobs import PassingJob
from github.client.errors import NotFound
from github.client.repository import RepositoryHandle
from github.repositories import queries
from loops.checks import last_passing as module
from loops.checks.last_passing import FORGOTTEN, LastPassing, last_passing
from loops.context import Loop
from loops.evidence.passing.since import Since
from loops.evidence.passing.twin import Twin, learn
from loops.store.database import Database
from loops.store.service_tables import PassingLog

NOW = 1_000_000_000.0
SHA = "f" * 40
PASSED = PassingJob(id=11, sha="a" * 40, branch="trunk", workflow_id=5)


class GitHub:
    """What GitHub has, and how often the log was fetched; None for what it does not have."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.passed: PassingJob | None = PASSED
        self.log: bytes | None = b"all 3 tests passed\n"
        self.compared: dict[str, Any] | None = {"commits": [], "files": []}
        self.away = False
        self.fetched = 0
        monkeypatch.setattr(module, "passing_job", self._passing_job)
        monkeypatch.setattr(module, "open_log", lambda repo, job: self._open())
        monkeypatch.setattr(queries, "compare", self._compare)
        monkeypatch.setattr(module, "distiller", lambda loop, repo: SimpleNamespace(learned=self._learned))

    async def _passing_job(self, *_: object) -> PassingJob | None:
        if self.away:
            raise NotFound("no such run")
        return self.passed

    @contextlib.asynccontextmanager
    async def _open(self) -> AsyncIterator[AsyncIterator[bytes]]:
        async def pieces() -> AsyncIterator[bytes]:
            self.fetched += 1
            if self.log is None:
                raise NotFound("the log is past its retention")
            yield self.log

        yield pieces()

    async def _compare(self, *_: object) -> dict[str, Any]:
        if self.compared is None:
            raise NotFound("no common history")
        return self.compared

    async def _learned(self, path: Path) -> Twin:
        return learn([path.read_bytes()])


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> GitHub:
    return GitHub(monkeypatch)


async def asked(database: Database, *, name: str = "test", run: int | None = 3, now: float = NOW) -> LastPassing:
    loop = cast(Loop, SimpleNamespace(database=database, clock=lambda: now))
    check, job = SimpleNamespace(run_id=run, branch="topic"), SimpleNamespace(name=name)
    left = cast(FailedCheckLogs, SimpleNamespace(job=job, check=check))
    return await last_passing(loop, cast(RepositoryHandle, SimpleNamespace(id=7)), left, "trunk", SHA)


async def test_each_passing_log_is_fetched_once(database: Database, github: GitHub) -> None:
    first, again = await asked(database), await asked(database)
    assert first.twin is not None and first.twin == again.twin
    assert github.fetched == 1


async def test_a_newer_passing_log_is_learned_beside_what_is_known(database: Database, github: GitHub) -> None:
    before = (await asked(database)).twin
    github.passed, github.log = replace(PASSED, id=12), b"compiling the other half\n"
    after = (await asked(database)).twin
    assert before is not None and after is not None
    assert after.templates > before.templates and github.fetched == 2


async def test_of_a_log_that_is_gone_what_is_known_is_better_than_nothing(database: Database, github: GitHub) -> None:
    before = (await asked(database)).twin
    github.passed, github.log = replace(PASSED, id=12), None
    assert (await asked(database)).twin == before
    assert (await asked(database, name="another job")).twin is None


async def test_what_changed_since_is_told_by_subjects_and_paths(database: Database, github: GitHub) -> None:
    commit = {"sha": "b" * 40, "commit": {"message": "Change a thing\n\nand say why"}}
    github.compared = {"commits": [commit, {}], "files": [{"filename": "src/a.py"}, {}]}
    since = (await asked(database)).since
    assert since == Since(PASSED.sha, "trunk", ("bbbbbbbbbb Change a thing", " "), ("src/a.py",))
    github.compared = None
    assert (await asked(database)).since is None


@pytest.mark.parametrize("lacking", ["a run", "a passing job", "GitHub"])
async def test_without_a_passing_job_nothing_is_told_and_nothing_fetched(
    database: Database, github: GitHub, lacking: str
) -> None:
    github.passed = None if lacking == "a passing job" else PASSED
    github.away = lacking == "GitHub"
    assert await asked(database, run=None if lacking == "a run" else 3) == LastPassing()
    assert github.fetched == 0


async def test_logs_that_nobody_compared_with_for_long_are_dropped(database: Database, github: GitHub) -> None:
    await asked(database, name="old")
    await asked(database, name="new", now=NOW + FORGOTTEN + 1)
    async with database.read() as tx:
        assert (await tx.execute(select(PassingLog.name))).scalars().all() == ["new"]
