from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sqlalchemy import select, update

from github.webhooks.outcomes import Repo
from k8s.boxes import BoxesUnavailable, BoxSpec, BoxState, BoxStatus, Known, Reconciled
from k8s.runner.protocol import Result
from loops.boxes.reaper import end_box_of, known_boxes, reap
from loops.boxes.warm_spares import spares_at
from loops.context import Loop
from loops.conversations.asking import take
from loops.offload import Offload
from loops.options import LoopOptions
from loops.protocol.results import store_result
from loops.protocol.tokens import HOUR, token
from loops.secrets.redact import Redactor
from loops.secrets.token_hash import token_hash
from loops.sessions.known_accounts import remember_repository
from loops.store.database import Database
from loops.store.migrations import upgrade
from loops.store.tables import Box, Session, Turn
from tests.loops.asks import mention, topic

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
        options=LoopOptions(box_warm=0),
        clock=lambda: NOW,
        instance="greenloop",
        box_key=b"key",
        service_url="http://service",
    )
    yield cast(Loop, made)
    await database.close()


def asked(loop: Loop) -> list[tuple[str, str]]:
    return cast(Recorder, loop.boxes).asked


async def box(loop: Loop, name: str, *, used: float, stopped: float | None = None, repository: int | None = 7) -> None:
    async with loop.database.write() as tx:
        values: dict[str, Any] = {"installation_id": 3, "person_id": 1, "token_at": NOW, "created_at": 0.0}
        values |= {"owner_key": f"3/{name}", "repository_id": repository}
        values["token_hash"] = token_hash(token(b"key", name, 1))
        at = None if stopped is None else NOW - stopped
        tx.add(Box(name=name, used_at=NOW - used, stopped_at=at, **values))
    if stopped is None:
        cast(Recorder, loop.boxes).living.add(name)


async def turn(loop: Loop, name: str, **values: Any) -> None:
    """A turn that ran, or runs, in the box `name`."""
    async with loop.database.write() as tx:
        repo = Repo(id=7, full_name="acme/widgets", installation_id=3, default_branch="main")
        await remember_repository(tx, repo, 1000)
        session, _ = await take(tx, topic(), mention(), owner=1, cap=3, now=1000)
        await tx.execute(update(Turn).where(Turn.session_id == session.id).values(box=name, **values))


async def names(loop: Loop) -> set[str]:
    async with loop.database.read() as tx:
        return set((await tx.execute(select(Box.name))).scalars())


async def test_an_idle_box_is_stopped_once_and_its_home_stays(loop: Loop) -> None:
    await box(loop, "gl-idle", used=31 * MINUTE)
    await box(loop, "gl-fresh", used=29 * MINUTE)
    await reap(loop)
    await reap(loop)
    assert asked(loop) == [("stop", "gl-idle")]
    assert await names(loop) == {"gl-idle", "gl-fresh"}


@pytest.mark.parametrize("status", ["ready", "running"])
async def test_a_box_with_a_turn_is_never_idle(loop: Loop, status: str) -> None:
    await box(loop, "gl-busy", used=100 * DAY)
    await turn(loop, "gl-busy", status=status)
    await reap(loop)
    assert asked(loop) == []


async def test_a_box_is_idle_from_the_end_of_its_last_turn_not_from_its_start(loop: Loop) -> None:
    await box(loop, "gl-long-turn", used=50 * MINUTE)
    await turn(loop, "gl-long-turn", status="running")
    async with loop.database.read() as tx:
        running = (await tx.execute(select(Turn))).scalar_one()
    result = Result(reason="exited", exit_code=0)
    await store_result(loop.database, running, result, {}, Redactor(), Offload(), now=NOW - 5 * MINUTE)
    async with loop.database.write() as tx:
        await tx.execute(update(Turn).values(status="done"))
    await reap(loop)
    assert asked(loop) == []
    async with loop.database.read() as tx:
        assert (await known_boxes(tx))["gl-long-turn"].used_at == NOW - 5 * MINUTE


async def test_a_home_that_nobody_used_for_long_is_deleted_with_its_row(loop: Loop) -> None:
    await box(loop, "gl-old", used=15 * DAY, stopped=14 * DAY)
    await box(loop, "gl-kept", used=13 * DAY, stopped=12 * DAY)
    await reap(loop)
    assert asked(loop) == [("delete_home", "gl-old")]
    assert await names(loop) == {"gl-kept"}


async def test_an_outage_postpones_and_fails_nothing(loop: Loop) -> None:
    await box(loop, "gl-idle", used=31 * MINUTE)
    cast(Recorder, loop.boxes).away = True
    await reap(loop)
    cast(Recorder, loop.boxes).away = False
    await reap(loop)
    assert asked(loop) == [("stop", "gl-idle")]


async def test_a_box_that_should_be_stopped_and_lives_is_stopped_again(loop: Loop) -> None:
    await box(loop, "gl-left", used=MINUTE, stopped=MINUTE)
    cast(Recorder, loop.boxes).living.add("gl-left")
    await reap(loop)
    assert asked(loop) == [("stop", "gl-left")]


async def test_a_box_whose_pod_is_gone_holds_no_place(loop: Loop) -> None:
    living = cast(Recorder, loop.boxes).living
    for name, used in (("gl-gone", 3 * MINUTE), ("gl-made-now", MINUTE), ("gl-there", 3 * MINUTE)):
        await box(loop, name, used=used)
    await box(loop, "gl-busy", used=3 * MINUTE)
    await turn(loop, "gl-busy", status="running")
    living -= {"gl-gone", "gl-made-now", "gl-busy"}
    await reap(loop)
    async with loop.database.read() as tx:
        up = set((await tx.execute(select(Box.name).where(Box.stopped_at.is_(None)))).scalars())
    assert up == {"gl-made-now", "gl-there", "gl-busy"}
    assert asked(loop) == []


async def test_a_turn_whose_box_is_not_there_is_looked_at_at_once(loop: Loop) -> None:
    await box(loop, "gl-busy", used=MINUTE)
    await turn(loop, "gl-busy", status="running")
    async with loop.database.write() as tx:
        await tx.execute(update(Session).values(due_at=NOW + 500))
    cast(Recorder, loop.boxes).missing = ("gl-busy",)
    await reap(loop)
    async with loop.database.read() as tx:
        (found,) = (await tx.execute(select(Turn))).scalars()
        (session,) = (await tx.execute(select(Session))).scalars()
    assert (found.trouble_at, session.due_at) == (NOW, NOW)


async def test_boxes_of_persons_end_after_their_turns_where_boxes_are_for_a_repository(loop: Loop) -> None:
    await box(loop, "gl-busy", used=MINUTE, repository=None)
    await turn(loop, "gl-busy", status="running")
    await box(loop, "gl-used", used=MINUTE, repository=None)
    await box(loop, "gl-stopped", used=DAY, stopped=60 * MINUTE, repository=None)
    await reap(loop)
    assert sorted(asked(loop)) == [("delete_home", "gl-stopped"), ("delete_home", "gl-used")]
    async with loop.database.write() as tx:
        await tx.execute(update(Turn).values(status="done", finished_at=NOW))
        await tx.execute(update(Session).values(resume={"claude": {"id": "c1"}}))
    await reap(loop)
    assert await names(loop) == set()
    async with loop.database.read() as tx:
        assert (await tx.execute(select(Session.resume))).scalar_one() == {}


@pytest.mark.parametrize("isolation", ["person", "session"])
async def test_boxes_for_a_repository_end_where_boxes_are_of_another_kind(loop: Loop, isolation: str) -> None:
    await box(loop, "gl-used", used=MINUTE)
    await reap(isolated(loop, isolation))
    assert asked(loop) == [("delete_home", "gl-used")]


async def test_the_boxes_of_an_ended_session_go_with_their_homes(loop: Loop) -> None:
    loop = isolated(loop, "session")
    await box(loop, "gl-of-another", used=MINUTE)
    await box(loop, "gl-its-own", used=MINUTE)
    await turn(loop, "gl-its-own", status="done", finished_at=NOW - 5)
    async with loop.database.write() as tx:
        (session,) = (await tx.execute(select(Session))).scalars()
        await tx.execute(update(Box).values(session_id=session.id))
    await reap(loop)
    assert asked(loop) == []
    async with loop.database.write() as tx:
        await tx.execute(update(Session).values(status="completed", resume={"claude": {"id": "c1"}}))
    await reap(loop)
    assert sorted(asked(loop)) == [("delete_home", "gl-its-own"), ("delete_home", "gl-of-another")]
    assert await names(loop) == set()
    async with loop.database.read() as tx:
        assert (await tx.execute(select(Session.resume))).scalar_one() == {}


async def test_a_session_that_ends_takes_the_boxes_of_all_who_asked_in_it(loop: Loop) -> None:
    await box(loop, "gl-alices", used=MINUTE)
    await turn(loop, "gl-alices", status="done", finished_at=NOW - 5)
    await box(loop, "gl-bobs", used=MINUTE)
    async with loop.database.write() as tx:
        (session,) = (await tx.execute(select(Session))).scalars()
        await tx.execute(update(Box).values(session_id=session.id))
    await end_box_of(loop, session)
    assert await names(loop) == set()


def isolated(loop: Loop, isolation: Any) -> Loop:
    """The same surroundings, with boxes of that kind."""
    options = LoopOptions(box_warm=0, box_isolation=isolation)
    return cast(Loop, SimpleNamespace(**{**vars(loop), "options": options}))


def warm(loop: Loop, count: int, **more: Any) -> Loop:
    """The same surroundings, with so many spares wanted."""
    return cast(Loop, SimpleNamespace(**{**vars(loop), "options": LoopOptions(box_warm=count, **more)}))


async def test_spares_are_kept_up_whatever_happens_to_them(loop: Loop) -> None:
    await reap(warm(loop, 2))
    spares = await names(loop)
    assert len(spares) == 2
    assert all(name.startswith("gl-greenloop-spare-") for name in spares)
    cast(Recorder, loop.boxes).asked.clear()
    await reap(warm(loop, 2))
    assert await names(loop) == spares
    assert sorted(asked(loop)) == sorted(("ensure", name) for name in spares)


async def test_spares_are_never_idle_and_too_many_go_with_their_homes(loop: Loop) -> None:
    await reap(warm(loop, 2))
    cast(Recorder, loop.boxes).asked.clear()
    later = cast(Loop, SimpleNamespace(**{**vars(warm(loop, 2)), "clock": lambda: NOW + 100 * DAY}))
    await reap(later)
    assert {what for what, _ in asked(loop)} == {"ensure"}
    await reap(warm(loop, 1))
    await reap(warm(loop, 1))
    assert len(await names(loop)) == 1
    assert [what for what, _ in asked(loop)].count("delete_home") == 1


@pytest.mark.parametrize(
    ("night", "at", "spares"),
    [
        ((20, 6), "19:59", 4),
        ((20, 6), "20:00", 1),
        ((20, 6), "05:59", 1),
        ((20, 6), "06:00", 4),
        ((0, 6), "23:30", 4),
        ((0, 6), "00:00", 1),
        ((3, 3), "03:30", 4),
    ],
)
def test_fewer_spares_are_kept_up_by_night(night: tuple[int, int], at: str, spares: int) -> None:
    now = datetime.fromisoformat(f"2026-11-30T{at}:00+00:00").timestamp()
    options = LoopOptions(box_warm=4, box_warm_night=1, box_night=night)
    assert spares_at(options, now) == spares
    assert spares_at(options.model_copy(update={"box_warm_night": None}), now) == 4


async def test_spares_leave_the_room_to_people(loop: Loop) -> None:
    for number in range(3):
        await box(loop, f"gl-{number}", used=MINUTE)
    await reap(warm(loop, 5, box_limit=4))
    assert len(await names(loop)) == 4


async def test_a_box_that_stays_up_has_a_new_token_in_time_and_it_is_written_until_the_box_has_shown_it(
    loop: Loop,
) -> None:
    await box(loop, "gl-fresh", used=0)
    await box(loop, "gl-aged", used=0)
    aged = NOW - loop.options.box_token_hours * HOUR - 1
    async with loop.database.write() as tx:
        await tx.execute(update(Box).where(Box.name == "gl-aged").values(token_at=aged))
    await reap(loop)
    await reap(loop)
    assert asked(loop) == [("ensure", "gl-aged")] * 2
    async with loop.database.write() as tx:
        renewed = await tx.get_one(Box, "gl-aged")
        assert (renewed.generation, renewed.token_hash) == (2, token_hash(token(b"key", "gl-aged", 2)))
        renewed.former_hash = None  # as soon as the box has asked with the new one
    await reap(loop)
    assert asked(loop) == [("ensure", "gl-aged")] * 2
