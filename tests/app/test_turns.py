import asyncio
import base64
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select, update

from app import turns
from app.surface import Surface
from k8s.runner import protocol
from loops.box_secrets import CannotPrepare
from loops.tables import Session, Turn
from tests.app.boxside import RESULT, TOKEN, ask, journal, row, said, seed, send
from tests.databases import on_sqlite


async def test_a_turn_goes_from_hand_out_to_result(box: httpx.AsyncClient, shared: Surface) -> None:
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
    assert session.due_at is not None and session.wake == 1


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("", 401),
        ("Bearer ", 401),
        ("Bearer wrong", 401),
        (f"Basic {TOKEN}", 401),
        ("Bearer box-token-of-bob", 404),
    ],
)
async def test_a_box_reaches_nothing_but_its_own_turns(
    box: httpx.AsyncClient, shared: Surface, header: str, status: int
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
    assert (await box.post("/boxes/ann/next", json=ask())).status_code == 401
    assert (await box.post("/boxes/nobody/next", json=ask())).status_code == 401
    assert await journal(shared) == []


async def test_a_turn_is_handed_out_again_until_its_first_output_and_no_second_beside_it(
    box: httpx.AsyncClient, shared: Surface
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
    box: httpx.AsyncClient, shared: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "POLL_SECONDS", 10)
    monkeypatch.setattr(turns, "LOOK_AGAIN", 10)
    await seed(shared, status="queued")
    waiting = asyncio.create_task(box.post("/boxes/ann/next", json=ask()))
    await asyncio.sleep(0.3)
    async with shared.database.write() as tx:
        await tx.execute(update(Turn).values(status="ready"))
    await shared.bus.notify("box:ann")
    async with asyncio.timeout(3):
        assert (await waiting).json()["turn"] == "t_1"


@on_sqlite
async def test_a_waiting_box_is_sent_away_when_the_service_stops(
    box: httpx.AsyncClient, shared: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "POLL_SECONDS", 20)
    await seed(shared, status="queued")
    waiting = asyncio.create_task(box.post("/boxes/ann/next", json=ask()))
    await asyncio.sleep(0.2)
    shared.stopping.set()
    async with asyncio.timeout(3):
        assert (await waiting).status_code == 204


async def test_a_runner_that_lost_its_turn_has_it_reported(box: httpx.AsyncClient, shared: Surface) -> None:
    await seed(shared, status="running", output_offset=5, heartbeat_at=time.time() - 5)
    assert (await box.post("/boxes/ann/next", json=ask())).status_code == 204
    assert (await row(shared)).status == "running"
    async with shared.database.write() as tx:
        await tx.execute(update(Turn).values(heartbeat_at=time.time() - 60))
    assert (await box.post("/boxes/ann/next", json=ask("t_1"))).status_code == 204
    assert (await row(shared)).status == "running"
    assert (await box.post("/boxes/ann/next", json=ask())).status_code == 204
    lost = await row(shared)
    assert lost.status == "reported"
    assert lost.result is not None and lost.result["reason"] == protocol.RUNNER_RESTARTED


class Vault:
    """Credentials of a profile, as the vault would give them."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.broken = False

    async def materialise(self, turn: Turn) -> tuple[dict[str, str], list[dict[str, Any]]]:
        if self.broken:
            raise CannotPrepare("The profile “work” is gone. Choose another.")
        return {"API_KEY": "planted-secret-value"}, [{"path": ".auth.json", "mode": 384, "content": "cGxhbnRlZA=="}]

    async def secrets(self, turn: Turn) -> list[str]:
        return ["planted-secret-value"]

    async def read_back(self, turn: Turn, files: Mapping[str, bytes]) -> None:
        self.kept |= files


@pytest.fixture
def vault(shared: Surface) -> Vault:
    made = Vault()
    object.__setattr__(shared, "credentials", made)
    return made


async def test_secrets_are_told_to_the_box_and_stored_nowhere(
    box: httpx.AsyncClient, shared: Surface, vault: Vault, tmp_path: Path
) -> None:
    await seed(shared)
    told = (await box.post("/boxes/ann/next", json=ask())).json()
    assert told["env"] == {"PLAIN": "1", "API_KEY": "planted-secret-value"}
    assert [file["path"] for file in told["files"]] == [".auth.json"]
    line = b"key: planted-secret-value, b64 " + base64.b64encode(b"planted-secret-value") + b"\n"
    for start in range(0, len(line), 7):
        offset = (await row(shared)).output_offset
        await send(box, offset, line[: start + 7], end=start + 7 >= len(line))
    refreshed = base64.b64encode(b'{"refresh_token": "a-new-secret-of-the-cli"}').decode()
    report = RESULT | {
        "files": [{"path": ".auth.json", "content": refreshed}],
        "stderr_tail": "planted-secret-value a-new-secret-of-the-cli",
        "diff": "+planted-secret-value\n",
        "message": "planted-secret-value",
        "reason": "fetch_failed",
    }
    assert (await box.put("/turns/t_1/result", json=report)).status_code == 204
    assert vault.kept == {".auth.json": b'{"refresh_token": "a-new-secret-of-the-cli"}'}
    turn = await row(shared)
    everything = json.dumps(
        [turn.spec, turn.result, turn.parser_state, turn.message, *(event.payload for event in await journal(shared))]
    )
    for secret in (b"planted-secret-value", b"a-new-secret-of-the-cli"):
        assert secret.decode() not in everything
        assert base64.b64encode(secret).decode() not in everything
    assert (await said(shared)).count("[redacted]") == 2


async def test_a_turn_whose_secrets_cannot_be_had_ends_with_the_reason(
    box: httpx.AsyncClient, shared: Surface, vault: Vault
) -> None:
    vault.broken = True
    await seed(shared)
    assert (await box.post("/boxes/ann/next", json=ask())).status_code == 204
    turn = await row(shared)
    assert turn.status == "reported"
    assert turn.result is not None and turn.result["reason"] == "credentials"
    assert turn.result["message"] == "The profile “work” is gone. Choose another."
