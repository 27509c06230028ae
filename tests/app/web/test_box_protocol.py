import asyncio
import time

import httpx
import pytest
from sqlalchemy import select, update

from app.web.boxes import next_turn
from app.web.state import AppState
from k8s.runner import protocol
from loops.store.tables import Session, Turn
from tests.app.boxside import RESULT, TOKEN, ask, journal, row, seed, send
from tests.databases import on_sqlite


async def test_a_turn_goes_from_hand_out_to_result(box: httpx.AsyncClient, shared: AppState) -> None:
    turn_id = await seed(shared)
    told = (await box.post("/boxes/ann/next", json={"runner": {"version": "1", "turn": None}})).json()
    assert (told["turn"], told["marker"], told["stdin"], told["limits"]) == ("t_1", "gl-1", "fix it", {"seconds": 60})
    assert (await send(box, 0, b"hello\nwor")).json() == {"offset": 6, "cancel": None}
    assert (await send(box, 6, b"world\n", end=True)).json() == {"offset": 12, "cancel": None}
    result = {"reason": "exited", "exit_code": 0, "base": "1" * 40, "tree": "2" * 40, "changes": [], "output_bytes": 12}
    assert (await box.put("/turns/t_1/result", json=result)).status_code == 204
    assert (await box.put("/turns/t_1/result", json=result)).status_code == 204
    async with shared.database.read() as tx:
        turn = await tx.get_one(Turn, turn_id)
        session = await tx.get_one(Session, turn.session_id)
    assert (turn.status, turn.output_offset, turn.message) == ("reported", 12, "hello\nworld")
    assert session.due_at is not None and session.due_at <= time.time()


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("", 401),
        ("Bearer ", 401),
        ("Bearer wrong", 401),
        (f"Basic {TOKEN}", 401),
        ("Bearer box-token-of-bob", 401),
        (f"Bearer {TOKEN}", 401),
    ],
)
async def test_a_box_reaches_nothing_but_its_own_turns(
    box: httpx.AsyncClient, shared: AppState, header: str, status: int
) -> None:
    await seed(shared, status="running")
    box.headers["authorization"] = header
    asked = [
        await box.post("/turns/t_1/output", json={"offset": 0}),
        await box.post("/turns/t_1/token"),
        await box.request("DELETE", "/turns/t_1/token", json={"token": "x"}),
        await box.get("/turns/t_1/evidence/log"),
        await box.put(f"/turns/t_1/objects/{'0' * 40}", content=b"x"),
        await box.put("/turns/t_1/result", json=RESULT),
    ]
    assert {answer.status_code for answer in asked} == {status}
    assert (await box.post("/turns/t_unknown/output", json={"offset": 0})).status_code == status
    if TOKEN not in header:
        assert (await box.post("/boxes/ann/next", json=ask())).status_code == 401
    assert (await box.post("/boxes/nobody/next", json=ask())).status_code == 401
    assert await journal(shared) == []


async def test_a_turn_is_handed_out_again_until_its_agent_starts_and_no_second_beside_it(
    box: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared)
    async with shared.database.write() as tx:
        first = (await tx.execute(select(Turn))).scalar_one()
        more = {name: getattr(first, name) for name in ("session_id", "kind", "trigger", "runtime", "box", "spec")}
        tx.add(Turn(public_id="t_2", number=2, status="ready", marker="gl-2", created_at=0, **more))
    several = await asyncio.gather(*(box.post("/boxes/ann/next", json=ask()) for _ in range(8)))
    assert {answer.json()["turn"] for answer in several} == {"t_1"}
    assert (await box.post("/boxes/ann/next", json=ask("t_1"))).status_code == 204
    await send(box, 0, b"line\n")
    assert (await box.post("/boxes/ann/next", json=ask())).status_code == 204
    await box.put("/turns/t_1/result", json=RESULT)
    assert (await box.post("/boxes/ann/next", json=ask())).json()["turn"] == "t_2"


@pytest.fixture(autouse=True)
def short_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "POLL_SECONDS", 0.3)


async def test_a_box_that_waits_gets_a_new_turn_at_once(
    box: httpx.AsyncClient, shared: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "POLL_SECONDS", 10)
    monkeypatch.setattr(next_turn, "LOOK_AGAIN", 10)
    await seed(shared, status="queued")
    waiting = asyncio.create_task(box.post("/boxes/ann/next", json=ask()))
    await asyncio.sleep(0.3)
    async with shared.database.write() as tx:
        await tx.execute(update(Turn).values(status="ready"))
    shared.bus.notify("box:ann")
    async with asyncio.timeout(60):
        assert (await waiting).json()["turn"] == "t_1"


@on_sqlite
async def test_a_waiting_box_is_sent_away_when_the_service_stops(
    box: httpx.AsyncClient, shared: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "POLL_SECONDS", 20)
    await seed(shared, status="queued")
    waiting = asyncio.create_task(box.post("/boxes/ann/next", json=ask()))
    await asyncio.sleep(0.2)
    shared.stopping.set()
    async with asyncio.timeout(60):
        assert (await waiting).status_code == 204


async def test_a_box_that_knows_nothing_of_its_turn_is_given_up_before_anything_else_is_handed_out(
    box: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared, status="running", begun_at=1, heartbeat_at=time.time() - 5)
    assert (await box.post("/boxes/ann/next", json=ask())).status_code == 204
    assert (await row(shared)).trouble_at is None
    async with shared.database.write() as tx:
        await tx.execute(update(Turn).values(heartbeat_at=time.time() - 60))
    assert (await box.post("/boxes/ann/next", json=ask("t_1"))).status_code == 204
    assert (await row(shared)).trouble_at is None
    assert (await box.post("/boxes/ann/next", json=ask())).status_code == 204
    turn = await row(shared)
    assert turn.status == "running" and turn.trouble_at is not None, "a worker looks at the box"
    assert (await box.post("/boxes/ann/next", json=ask())).status_code == 401
    assert (await box.post("/boxes/ann/next", json=ask("t_1"))).status_code == 401
