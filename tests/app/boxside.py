"""A box at the service's door: what it sends, and what the service keeps of it."""

import base64
from collections.abc import Generator
from typing import Any

import httpx
from sqlalchemy import select

from app.web.state import AppState
from loops.protocol.tokens import turn_token
from loops.secrets.token_hash import token_hash
from loops.store.tables import Box, Event, Session, Turn

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


class BoxAuth(httpx.Auth):
    """What a runner shows: the box's token, or that of the turn which it asks about."""

    def __init__(self, shared: AppState) -> None:
        self._shared = shared

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if "authorization" not in request.headers:
            _, room, name = f"{request.url.path}//".split("/")[:3]
            token = token_of_turn(self._shared, name) if room == "turns" else TOKEN
            request.headers["authorization"] = f"Bearer {token}"
        yield request


def token_of_turn(shared: AppState, public_id: str = "t_1") -> str:
    return turn_token(shared.box_key, Turn(public_id=public_id, lost=0, retries=0))


async def seed(shared: AppState, *, status: str = "ready", **more: Any) -> int:
    more = {"token_hash": token_hash(token_of_turn(shared)), **more}
    async with shared.database.write() as tx:
        for name, secret in (("ann", TOKEN), ("bob", "box-token-of-bob")):
            about = {"token_hash": token_hash(secret), "token_at": shared.clock()}
            tx.add(Box(name=name, installation_id=5, used_at=0, created_at=0, **about))
        session = Session(
            public_id="s_1", installation_id=5, repository_id=7, subject_kind="issue", subject_number=1,
            surface="github", trigger="mention", title="T", instruction="fix it", cap=3, created_at=0,
        )  # fmt: skip
        tx.add(session)
        await tx.flush()
        turn = Turn(
            public_id="t_1", session_id=session.id, number=1, kind="issue", trigger="mention", status=status,
            runtime="command", box="ann", marker="gl-1", spec=SPEC, created_at=0, limits={"seconds": 60},
            **more,
        )  # fmt: skip
        tx.add(turn)
        await tx.flush()
        return turn.id


async def send(box: httpx.AsyncClient, offset: int, data: bytes, *, end: bool = False) -> httpx.Response:
    body = {"offset": offset, "data": base64.b64encode(data).decode(), "end": end, "state": "running"}
    return await box.post("/turns/t_1/output", json=body)


async def row(shared: AppState) -> Turn:
    async with shared.database.read() as tx:
        return (await tx.execute(select(Turn).where(Turn.public_id == "t_1"))).scalar_one()


async def journal(shared: AppState) -> list[Event]:
    async with shared.database.read() as tx:
        return list((await tx.execute(select(Event).order_by(Event.seq))).scalars())


async def said(shared: AppState) -> str:
    return "".join(event.payload["text"] for event in await journal(shared) if event.kind == "assistant_delta")


def ask(held: str | None = None) -> dict[str, Any]:
    return {"runner": {"version": "1", "turn": held}}


RESULT = {"reason": "exited", "exit_code": 0, "base": "1" * 40, "tree": "2" * 40, "changes": []}
