from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sqlalchemy import select, update

from github.outcomes import Repo
from k8s.boxes import BoxesUnavailable, BoxSpec, BoxState, BoxStatus, Known, Reconciled
from loops.context import Loop
from loops.conversations import Ask, Topic, ask
from loops.database import Database
from loops.migrations import upgrade
from loops.options import LoopOptions
from loops.steps.facts import remember_repository
from loops.tables import Box, Turn
from loops.upkeep import known_boxes, upkeep

NOW = 10_000_000.0
MINUTE, DAY = 60.0, 86400.0


class Recorder:
    """Boxes that only write down what was asked of them."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.away = False
        self.living: set[str] = set()
        self.missing: tuple[str, ...] = ()

    async def list(self) -> list[BoxStatus]:
        return [BoxStatus(name=name, state=BoxState.RUNNING) for name in self.living]

    async def stop(self, name: str) -> None:
        self._note("stop", name)

    async def delete_home(self, name: str) -> None:
        self._note("delete_home", name)

    async def ensure(self, spec: BoxSpec) -> BoxStatus:
        self._note("ensure", spec.name)
        self.living.add(spec.name)
        return BoxStatus(name=spec.name, state=BoxState.STARTING)

    async def reconcile(self, known: Mapping[str, Known], **asked: Any) -> Reconciled:
        return Reconciled(missing=self.missing)

    def _note(self, what: str, name: str) -> None:
        if self.away:
            raise BoxesUnavailable("the API server does not answer")
        self.asked.append((what, name))
        self.living.discard(name)


@pytest.fixture
async def loop(tmp_path: Path) -> AsyncIterator[Loop]:
    url = f"sqlite:///{tmp_path}/loop.db"
    await upgrade(url)
    database = Database(url)
    made = SimpleNamespace(
        database=database,
        boxes=Recorder(),
        options=LoopOptions(),
        clock=lambda: NOW,
        instance="greenloop",
        box_key=b"key",
        service_url="http://service",
    )
    yield cast(Loop, made)
    await database.close()


def asked(loop: Loop) -> list[tuple[str, str]]:
    return cast(Recorder, loop.boxes).asked


async def box(loop: Loop, name: str, *, used: float, stopped: float | None = None) -> None:
    async with loop.database.write() as tx:
        values: dict[str, Any] = {"installation_id": 3, "person_id": 1, "token_hash": "x", "created_at": 0.0}
        values["owner_key"] = f"3/{name}"
        at = None if stopped is None else NOW - stopped
        tx.add(Box(name=name, used_at=NOW - used, stopped_at=at, **values))
    if stopped is None:
        cast(Recorder, loop.boxes).living.add(name)


async def turn(loop: Loop, name: str, **values: Any) -> None:
    """A turn that ran, or runs, in the box `name`."""
    async with loop.database.write() as tx:
        repo = Repo(id=7, full_name="acme/widgets", installation_id=3, default_branch="main")
        await remember_repository(tx, repo, 1000)
        session, _ = await ask(
            tx, Topic(3, 7, "issue", 5, "T"), Ask("mention", "do", "issue", 1, "ann"), owner=1, cap=3, now=1000
        )
        await tx.execute(update(Turn).where(Turn.session_id == session.id).values(box=name, **values))


async def names(loop: Loop) -> set[str]:
    async with loop.database.read() as tx:
        return set((await tx.execute(select(Box.name))).scalars())


async def test_an_idle_box_is_stopped_once_and_its_home_stays(loop: Loop) -> None:
    await box(loop, "gl-idle", used=31 * MINUTE)
    await box(loop, "gl-fresh", used=29 * MINUTE)
    await upkeep(loop)
    await upkeep(loop)
    assert asked(loop) == [("stop", "gl-idle")]
    assert await names(loop) == {"gl-idle", "gl-fresh"}


@pytest.mark.parametrize("status", ["ready", "running"])
async def test_a_box_with_a_turn_is_never_idle(loop: Loop, status: str) -> None:
    await box(loop, "gl-busy", used=100 * DAY)
    await turn(loop, "gl-busy", status=status)
    await upkeep(loop)
    assert asked(loop) == []


async def test_a_box_is_idle_from_the_end_of_its_last_turn_not_from_its_start(loop: Loop) -> None:
    await box(loop, "gl-long-turn", used=50 * MINUTE)
    await turn(loop, "gl-long-turn", status="done", finished_at=NOW - 5 * MINUTE)
    await upkeep(loop)
    assert asked(loop) == []
    async with loop.database.read() as tx:
        assert (await known_boxes(tx))["gl-long-turn"].used_at == NOW - 5 * MINUTE


async def test_a_home_that_nobody_used_for_long_is_deleted_with_its_row(loop: Loop) -> None:
    await box(loop, "gl-old", used=15 * DAY, stopped=14 * DAY)
    await box(loop, "gl-kept", used=13 * DAY, stopped=12 * DAY)
    await upkeep(loop)
    assert asked(loop) == [("delete_home", "gl-old")]
    assert await names(loop) == {"gl-kept"}


async def test_an_outage_postpones_and_fails_nothing(loop: Loop) -> None:
    await box(loop, "gl-idle", used=31 * MINUTE)
    cast(Recorder, loop.boxes).away = True
    await upkeep(loop)
    cast(Recorder, loop.boxes).away = False
    await upkeep(loop)
    assert asked(loop) == [("stop", "gl-idle")]
