import base64
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.surface import Surface
from loops.box_access import token_hash
from loops.tables import Box, Session, Turn

TOKEN = "box-token-of-ann"
SPEC = {
    "repository": {
        "id": 7, "full_name": "o/r", "sha": "1" * 40, "ref": "refs/heads/main", "branch": "greenloop/1", "fetch": True,
    },
    "workdir": "Code/o/r/greenloop/1",
    "argv": ["agent"],
    "env": {"PLAIN": "1"},
    "stdin": "fix it",
}  # fmt: skip


async def seed(shared: Surface, *, status: str = "ready", **more: Any) -> int:
    async with shared.database.write() as tx:
        for name, secret in (("ann", TOKEN), ("bob", "box-token-of-bob")):
            tx.add(Box(name=name, installation_id=5, token_hash=token_hash(secret), used_at=0, created_at=0))
        session = Session(
            public_id="s_1", installation_id=5, repository_id=7, subject_kind="issue", subject_number=1,
            surface="github", trigger="mention", title="T", instruction="fix it", cap=3, created_at=0,
        )  # fmt: skip
        tx.add(session)
        await tx.flush()
        turn = Turn(
            public_id="t_1", session_id=session.id, number=1, kind="issue", trigger="mention", status=status,
            runtime="command", box="ann", marker="gl-1", spec=SPEC, created_at=0, limits={"seconds": 60}, **more,
        )  # fmt: skip
        tx.add(turn)
        await tx.flush()
        return turn.id


@pytest.fixture
async def box(http: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    http.headers["authorization"] = f"Bearer {TOKEN}"
    yield http


async def send(box: httpx.AsyncClient, offset: int, data: bytes, *, end: bool = False) -> httpx.Response:
    body = {"offset": offset, "data": base64.b64encode(data).decode(), "end": end, "state": "running"}
    return await box.post("/turns/t_1/output", json=body)


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
