"""An agent that came by its box's token: it reports nothing, learns nothing, and gets nobody's turn with it."""

import asyncio

import httpx
import pytest
from sqlalchemy import select, update

from app.web.state import AppState
from k8s.runner import protocol
from loops.protocol import assign_turn
from loops.protocol.tokens import turn_token
from loops.secrets.token_hash import token_hash
from loops.store.tables import Box, Session, Turn
from tests.app.boxside import RESULT, TOKEN, ask, journal, row, seed, send, token_of_turn
from tests.databases import on_sqlite

pytestmark = on_sqlite


@pytest.fixture(autouse=True)
def short_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "POLL_SECONDS", 0.2)


async def beside(shared: AppState, *, box: str = "ann", status: str = "ready") -> None:
    """Another repository's turn, waiting in that box."""
    async with shared.database.write() as tx:
        other = Session(
            public_id="s_2", installation_id=5, repository_id=8, subject_kind="issue", subject_number=1,
            surface="github", trigger="mention", title="T", instruction="secret work", cap=3, created_at=0,
        )  # fmt: skip
        tx.add(other)
        await tx.flush()
        first = (await tx.execute(select(Turn))).scalars().first()
        assert first is not None
        more = {name: getattr(first, name) for name in ("kind", "trigger", "runtime", "spec", "limits")}
        hashed = token_hash(token_of_turn(shared, "t_2")) if status == "running" else None
        turn = Turn(
            public_id="t_2", session_id=other.id, number=1, status=status, marker="gl-2", box=box, created_at=0,
            token_hash=hashed, **more,
        )  # fmt: skip
        tx.add(turn)


async def everything_of(box: httpx.AsyncClient, token: str, turn: str = "t_1") -> set[int]:
    """The answers to all that can be asked of a turn."""
    headers = {b"authorization": f"Bearer {token}".encode("latin-1")}
    asked = [
        await box.put(f"/turns/{turn}/result", json=RESULT, headers=headers),
        await box.post(f"/turns/{turn}/output", json={"offset": 0}, headers=headers),
        await box.post(f"/turns/{turn}/token", headers=headers),
        await box.get(f"/turns/{turn}/secrets", headers=headers),
        await box.get(f"/turns/{turn}/edited", headers=headers),
        await box.get(f"/turns/{turn}/evidence/x", headers=headers),
        await box.put(f"/turns/{turn}/objects/{'1' * 40}", content=b"x", headers=headers),
    ]
    return {answer.status_code for answer in asked}


async def test_an_agent_that_stops_its_runner_can_neither_report_nor_get_the_next_turn(
    box: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared)
    await beside(shared)
    told = (await box.post("/boxes/ann/next", json=ask())).json()
    assert (await send(box, 0, b"begun\n")).status_code == 200
    # the runner is stopped here; what the agent has is the box's token
    assert await everything_of(box, TOKEN) == {401}
    assert await everything_of(box, TOKEN, "t_2") == {401}
    for held in (None, "t_1", "t_2", "nonsense"):
        assert (await box.post("/boxes/ann/next", json=ask(held))).status_code == 204
    assert (await row(shared)).status == "running"
    assert "secret work" not in str([event.payload for event in await journal(shared)])
    # the runner goes on, and its report counts
    headers = {"authorization": f"Bearer {told['token']}"}
    assert (await box.put("/turns/t_1/result", json=RESULT, headers=headers)).status_code == 204
    assert (await box.post("/boxes/ann/next", json=ask())).json()["turn"] == "t_2"


async def test_a_runner_that_stays_stopped_costs_its_box_and_hands_out_nothing(
    box: httpx.AsyncClient, shared: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assign_turn, "FORGOTTEN_AFTER", -1.0)
    await seed(shared, status="running", begun_at=1)
    await beside(shared)
    statuses = {(await box.post("/boxes/ann/next", json=ask())).status_code for _ in range(3)}
    assert statuses <= {204, 401}
    assert (await _ann(shared)).stopped_at is not None
    async with shared.database.read() as tx:
        other = (await tx.execute(select(Turn).where(Turn.public_id == "t_2"))).scalar_one()
    assert (other.status, (await row(shared)).trouble_at is not None) == ("ready", True)


async def test_a_poll_that_was_open_when_its_box_was_given_up_gets_nothing_of_the_box_that_comes(
    box: httpx.AsyncClient, shared: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "POLL_SECONDS", 2)
    await seed(shared, status="queued")
    poll = asyncio.create_task(box.post("/boxes/ann/next", json=ask()))
    async with asyncio.timeout(60):
        while (await _ann(shared)).seen_at is None:
            await asyncio.sleep(0.01)
    async with shared.database.write() as tx:
        await tx.execute(update(Box).where(Box.name == "ann").values(token_hash=token_hash("of the next pod")))
        await tx.execute(update(Turn).values(status="ready"))
    shared.bus.notify("box:ann")
    assert (await poll).status_code == 204
    assert (await row(shared)).status == "ready"


async def _ann(shared: AppState) -> Box:
    async with shared.database.read() as tx:
        return await tx.get_one(Box, "ann")


@pytest.mark.parametrize("token", ["", "glt_", "glt_" + "A" * 43, "glt_\xdc", TOKEN + "x"])
async def test_a_forged_token_opens_nothing(box: httpx.AsyncClient, shared: AppState, token: str) -> None:
    await seed(shared, status="running")
    assert await everything_of(box, token) == {401}


async def test_the_token_of_another_turn_opens_nothing_of_this_one(box: httpx.AsyncClient, shared: AppState) -> None:
    await seed(shared, status="running")
    await beside(shared, box="bob", status="running")
    assert await everything_of(box, token_of_turn(shared, "t_2")) == {401}
    headers = {"authorization": f"Bearer {token_of_turn(shared)}"}
    assert (await box.post("/boxes/ann/next", json=ask(), headers=headers)).status_code == 401
    assert (await row(shared)).status == "running"


async def test_the_token_of_a_former_try_opens_nothing_of_the_next(box: httpx.AsyncClient, shared: AppState) -> None:
    await seed(shared, status="running")
    async with shared.database.write() as tx:
        turn = (await tx.execute(select(Turn))).scalar_one()
        turn.lost = 1
        turn.token_hash = token_hash(turn_token(shared.box_key, turn))
    # 409, so that the runner that still holds it drops the turn at once
    assert await everything_of(box, token_of_turn(shared)) == {409}


async def test_a_turn_that_was_not_handed_out_is_open_to_nobody(box: httpx.AsyncClient, shared: AppState) -> None:
    await seed(shared, token_hash=None)
    for token in (TOKEN, token_of_turn(shared)):
        assert await everything_of(box, token) == {401}


async def test_turns_of_the_former_release_are_reported_with_their_boxs_token_until_they_end(
    box: httpx.AsyncClient, http: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared, status="running", token_hash=None, handed_at=1.0)
    headers = {"authorization": f"Bearer {TOKEN}"}
    for port in (box, http):
        assert (await port.post("/turns/t_1/output", json={"offset": 0}, headers=headers)).status_code == 200
    for port in (box, http):
        assert (await port.put("/turns/t_1/result", json=RESULT, headers=headers)).status_code == 204
    assert (await http.post("/boxes/ann/next", json=ask(), headers=headers)).status_code == 404
    assert (await http.put("/turns/t_1/result", json=RESULT, headers={"authorization": "Bearer x"})).status_code == 404
    async with shared.database.write() as tx:
        await tx.execute(update(Turn).values(status="done"))
    assert (await http.put("/turns/t_1/result", json=RESULT, headers=headers)).status_code == 404
    assert (await box.put("/turns/t_1/result", json=RESULT, headers=headers)).status_code == 401
