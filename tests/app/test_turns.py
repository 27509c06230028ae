import asyncio
import base64
import json
import random
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select, update

from app import turns
from app.surface import Surface
from k8s.runner import protocol
from loops.box_access import token_hash
from loops.box_secrets import CannotPrepare, FetchToken
from loops.results import blob_sha
from loops.runtimes.base import RuntimeEvent
from loops.runtimes.command import CommandParser, CommandRuntime
from loops.tables import Blob, Box, Event, Log, Session, Turn
from tests.databases import on_sqlite

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


async def row(shared: Surface) -> Turn:
    async with shared.database.read() as tx:
        return (await tx.execute(select(Turn).where(Turn.public_id == "t_1"))).scalar_one()


async def journal(shared: Surface) -> list[Event]:
    async with shared.database.read() as tx:
        return list((await tx.execute(select(Event).order_by(Event.seq))).scalars())


async def said(shared: Surface) -> str:
    return "".join(event.payload["text"] for event in await journal(shared) if event.kind == "assistant_delta")


def ask(held: str | None = None) -> dict[str, Any]:
    return {"runner": {"version": "1", "turn": held}}


RESULT = {"reason": "exited", "exit_code": 0, "base": "1" * 40, "tree": "2" * 40, "changes": []}


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
        [turn.spec, turn.result, turn.parser_state, turn.message, *map(vars_of, await journal(shared))]
    )
    for secret in (b"planted-secret-value", b"a-new-secret-of-the-cli"):
        assert secret.decode() not in everything
        assert base64.b64encode(secret).decode() not in everything
    assert (await said(shared)).count("[redacted]") == 2


def vars_of(event: Event) -> dict[str, Any]:
    return event.payload


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


async def test_repeated_overlapping_and_concurrent_output_is_stored_once(
    box: httpx.AsyncClient, shared: Surface
) -> None:
    await seed(shared, status="running")
    data = b"".join(b"line %d\n" % n for n in range(60))
    rng = random.Random(7)
    offset = 0
    while offset < len(data):
        start = max(0, offset - rng.randrange(30))
        end = min(len(data), offset + rng.randrange(1, 60))
        copies = [send(box, start, data[start:end], end=end == len(data)) for _ in range(rng.choice([1, 1, 3]))]
        offset = max(answer.json()["offset"] for answer in await asyncio.gather(*copies))
    assert (await send(box, offset + 100, b"a gap\n")).json()["offset"] == len(data)
    assert await said(shared) == data.decode()
    seqs = [event.seq for event in await journal(shared)]
    assert seqs == list(range(1, len(seqs) + 1))


async def test_output_is_answered_with_the_wish_to_stop_and_is_a_sign_of_life(
    box: httpx.AsyncClient, shared: Surface
) -> None:
    await seed(shared, status="running", stop_reason="cancelled by ann")
    before = time.time()
    assert (await send(box, 0, b"")).json() == {"offset": 0, "cancel": "cancelled by ann"}
    assert ((await row(shared)).heartbeat_at or 0) >= before
    async with shared.database.read() as tx:
        assert ((await tx.get_one(Box, "ann")).seen_at or 0) >= before


@pytest.mark.parametrize("status", ["done", "failed", "cancelled", "reported", "queued"])
async def test_a_turn_that_is_over_takes_nothing_more(box: httpx.AsyncClient, shared: Surface, status: str) -> None:
    await seed(shared, status=status)
    over = [
        await send(box, 0, b"late\n"),
        await box.put(f"/turns/t_1/objects/{blob_sha(b'x')}", content=b"x"),
        await box.put("/turns/t_1/result", json=RESULT),
        await box.post("/turns/t_1/token"),
    ]
    assert {answer.status_code for answer in over} == {409}
    assert status in over[0].json()["error"]
    assert await journal(shared) == []


async def test_a_line_longer_than_a_usual_request_is_one_line(box: httpx.AsyncClient, shared: Surface) -> None:
    await seed(shared, status="running")
    line = b"y" * (3 * 1024 * 1024) + b"\n"
    assert (await send(box, 0, line[: protocol.OUTPUT_CHUNK])).json()["offset"] == 0
    assert (await send(box, 0, line)).json()["offset"] == len(line)
    assert len(await said(shared)) < 40_000


@on_sqlite
@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"offset": -1}', b'{"offset": "0"}', b'{"offset": 0, "data": "***"}', b"{}"]
)
async def test_output_that_breaks_the_protocol_is_refused_by_name(
    box: httpx.AsyncClient, shared: Surface, body: bytes
) -> None:
    await seed(shared, status="running")
    answer = await box.post("/turns/t_1/output", content=body)
    assert answer.status_code == 422
    assert answer.json()["error"]


async def test_a_turn_over_its_cap_is_told_to_stop_and_how_to_raise_it(
    box: httpx.AsyncClient, shared: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    await seed(shared, status="running")
    async with shared.database.write() as tx:
        await tx.execute(update(Turn).values(limits={"steps": 2}))
    monkeypatch.setattr("loops.ingest.get", lambda name: UsageRuntime())
    assert (await send(box, 0, b"1\n2\n")).json()["cancel"] is None
    stopped = (await send(box, 4, b"3\n")).json()["cancel"]
    assert stopped.startswith("limit_exceeded: 3 steps of one turn, the cap is 2.")
    assert "limits.steps" in stopped
    turn = await row(shared)
    assert (turn.steps, turn.input_tokens, turn.output_tokens, turn.cost) == (3, 30, 6, 0.75)


class UsageRuntime(CommandRuntime):
    """Every line is a step."""

    def parser(self, state: Any = None, *, totals: Any = None) -> Any:
        return UsageParser()


class UsageParser(CommandParser):
    def parse(self, line: str) -> list[RuntimeEvent]:
        return [RuntimeEvent("usage", {"steps": 1, "input": 10, "cached": 0, "output": 2, "cost": 0.25})]


async def test_changed_files_are_kept_once_when_they_are_what_they_say(box: httpx.AsyncClient, shared: Surface) -> None:
    await seed(shared, status="running")
    async with shared.database.write() as tx:
        await tx.execute(update(Turn).values(limits={"file_bytes": 100_000, "changed_bytes": 150_000}))
    binary = bytes(range(256))
    url = "/turns/t_1/objects/"
    assert (await box.put(url + blob_sha(binary), content=binary)).status_code == 204
    assert (await box.put(url + blob_sha(binary), content=binary)).status_code == 204
    assert blob_sha(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert (await box.put(url + blob_sha(b""), content=b"")).status_code == 204
    assert (await box.put(url + "0" * 40, content=b"other")).status_code == 422
    large = b"z" * 180_000
    assert (await box.put(url + blob_sha(large), content=large)).status_code == 413
    for letter, status in ((b"a", 204), (b"b", 204), (b"c", 413)):
        some = letter * 99_000
        assert (await box.put(url + blob_sha(some), content=some)).status_code == status
    async with shared.database.read() as tx:
        kept = {blob.sha: blob.content for blob in (await tx.execute(select(Blob))).scalars()}
    assert kept[blob_sha(binary)] == binary
    assert len(kept) == 4


async def test_a_result_is_stored_once_and_wakes_the_session(box: httpx.AsyncClient, shared: Surface) -> None:
    await seed(shared, status="running")
    many = await asyncio.gather(*(box.put("/turns/t_1/result", json=RESULT | {"message": str(n)}) for n in range(5)))
    assert {answer.status_code for answer in many} == {204}
    assert [event.kind for event in await journal(shared)] == ["turn_reported"]
    turn = await row(shared)
    async with shared.database.read() as tx:
        session = await tx.get_one(Session, turn.session_id)
    assert session.wake == 1
    assert (turn.status, turn.tree_sha) == ("reported", "2" * 40)


@on_sqlite
async def test_an_enormous_diff_is_cut_and_says_so(box: httpx.AsyncClient, shared: Surface) -> None:
    await seed(shared, status="running")
    await box.put("/turns/t_1/result", json=RESULT | {"diff": "+line\n" * 200_000})
    diff = ((await row(shared)).result or {})["diff"]
    assert len(diff) <= protocol.DIFF_BYTES + 100
    assert "left out" in diff.splitlines()[-1]


async def test_evidence_comes_out_as_it_went_in(box: httpx.AsyncClient, shared: Surface) -> None:
    turn_id = await seed(shared, status="running")
    text = random.Random(1).randbytes(200_000) + b"a line\n" * 200_000
    async with shared.database.write() as tx:
        tx.add(Log(turn_id=turn_id, name="build (3.11)/log", content=zlib.compress(text)))
        tx.add(Log(turn_id=turn_id, name="empty", content=zlib.compress(b"")))
    assert (await box.get("/turns/t_1/evidence/build (3.11)/log")).content == text
    assert (await box.get("/turns/t_1/evidence/empty")).content == b""
    assert (await box.get("/turns/t_1/evidence/other")).status_code == 404


class Tokens:
    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    async def mint(self, installation_id: int, repository_id: int) -> FetchToken:
        self.calls.append(("mint", installation_id, repository_id))
        return FetchToken("https://github.test/o/r.git", "ghs_x")

    async def revoke(self, token: str) -> None:
        self.calls.append(("revoke", token))


async def test_a_fetch_token_is_minted_for_the_turns_repository_and_revoked(
    box: httpx.AsyncClient, shared: Surface
) -> None:
    await seed(shared, status="running")
    assert (await box.post("/turns/t_1/token")).status_code == 503
    tokens = Tokens()
    object.__setattr__(shared, "fetch_tokens", tokens)
    minted = (await box.post("/turns/t_1/token")).json()
    assert minted == {"url": "https://github.test/o/r.git", "token": "ghs_x", "username": "x-access-token"}
    assert (await box.request("DELETE", "/turns/t_1/token", json={"token": "ghs_x"})).status_code == 204
    assert tokens.calls == [("mint", 5, 7), ("revoke", "ghs_x")]
