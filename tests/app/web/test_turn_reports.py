import asyncio
import random
import time
import zlib
from dataclasses import replace

import httpx
import pytest
from sqlalchemy import select, update

from app.web.state import AppState
from k8s.runner import protocol
from loops.protocol.results import blob_sha
from loops.runtimes.base import RuntimeEvent
from loops.runtimes.command.spec import SPEC as COMMAND
from loops.runtimes.command.stream import CommandParser
from loops.store.tables import Blob, Box, Log, Session, Turn
from loops.store.work_tables import WorkSoFar
from tests.app.boxside import RESULT, journal, row, said, seed, send
from tests.databases import on_sqlite


async def test_repeated_overlapping_and_concurrent_output_is_stored_once(
    box: httpx.AsyncClient, shared: AppState
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
    box: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared, status="running", stop_reason="cancelled by ann")
    before = time.time()
    assert (await send(box, 0, b"")).json() == {"offset": 0, "cancel": "cancelled by ann"}
    assert ((await row(shared)).heartbeat_at or 0) >= before
    async with shared.database.read() as tx:
        assert ((await tx.get_one(Box, "ann")).seen_at or 0) >= before


@pytest.mark.parametrize("status", ["done", "failed", "cancelled", "reported", "queued"])
async def test_a_turn_that_is_over_takes_nothing_more(box: httpx.AsyncClient, shared: AppState, status: str) -> None:
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


async def test_a_line_longer_than_a_usual_request_is_one_line(box: httpx.AsyncClient, shared: AppState) -> None:
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
    box: httpx.AsyncClient, shared: AppState, body: bytes
) -> None:
    await seed(shared, status="running")
    answer = await box.post("/turns/t_1/output", content=body)
    assert answer.status_code == 422
    assert answer.json()["error"]


async def test_a_turn_over_its_cap_is_told_to_stop_and_how_to_raise_it(
    box: httpx.AsyncClient, shared: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    await seed(shared, status="running")
    async with shared.database.write() as tx:
        await tx.execute(update(Turn).values(limits={"steps": 2}))
    monkeypatch.setattr("loops.protocol.store_output.get", lambda name: replace(COMMAND, parser=UsageParser.begin))
    assert (await send(box, 0, b"1\n2\n")).json()["cancel"] is None
    stopped = (await send(box, 4, b"3\n")).json()["cancel"]
    assert stopped.startswith("limit_exceeded: 3 steps of one turn, the cap is 2.")
    assert "limits.steps" in stopped
    turn = await row(shared)
    assert (turn.steps, turn.input_tokens, turn.output_tokens, turn.cost) == (3, 30, 6, 0.75)


class UsageParser(CommandParser):
    """Every line is a step."""

    def parse(self, line: str) -> list[RuntimeEvent]:
        return [RuntimeEvent("usage", {"steps": 1, "input": 10, "cached": 0, "output": 2, "cost": 0.25})]


async def test_changed_files_are_kept_once_when_they_are_what_they_say(
    box: httpx.AsyncClient, shared: AppState
) -> None:
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


async def test_a_result_is_stored_once_and_wakes_the_session(box: httpx.AsyncClient, shared: AppState) -> None:
    await seed(shared, status="running")
    many = await asyncio.gather(*(box.put("/turns/t_1/result", json=RESULT | {"message": str(n)}) for n in range(5)))
    assert {answer.status_code for answer in many} == {204}
    assert [event.kind for event in await journal(shared)] == ["turn_reported"]
    turn = await row(shared)
    async with shared.database.read() as tx:
        session = await tx.get_one(Session, turn.session_id)
    assert session.due_at is not None
    assert (turn.status, turn.tree_sha) == ("reported", "2" * 40)


@on_sqlite
async def test_an_enormous_diff_is_cut_and_says_so(box: httpx.AsyncClient, shared: AppState) -> None:
    await seed(shared, status="running")
    await box.put("/turns/t_1/result", json=RESULT | {"diff": "+line\n" * 200_000})
    diff = ((await row(shared)).result or {})["diff"]
    assert len(diff) <= protocol.DIFF_BYTES + 100
    assert "left out" in diff.splitlines()[-1]


async def test_evidence_comes_out_as_it_went_in(box: httpx.AsyncClient, shared: AppState) -> None:
    turn_id = await seed(shared, status="running")
    text = random.Random(1).randbytes(200_000) + b"a line\n" * 200_000
    async with shared.database.write() as tx:
        tx.add(Log(turn_id=turn_id, name="build (3.11)/log", content=zlib.compress(text)))
        tx.add(Log(turn_id=turn_id, name="empty", content=zlib.compress(b"")))
    assert (await box.get("/turns/t_1/evidence/build (3.11)/log")).content == text
    assert (await box.get("/turns/t_1/evidence/empty")).content == b""
    assert (await box.get("/turns/t_1/evidence/other")).status_code == 404


def _work(**texts: str) -> dict[str, object]:
    """What a box tells of new files."""
    sections = [
        f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+{text}\n"
        for name, text in texts.items()
    ]
    changes = [{"path": name, "mode": "100644", "sha": blob_sha(f"{text}\n".encode())} for name, text in texts.items()]
    return {"reason": protocol.WORKING, "base": "1" * 40, "changes": changes, "diff": "".join(sections)}


async def test_work_that_is_told_meanwhile_is_kept_without_files_with_secrets_until_the_turn_is_reported(
    box: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared, status="running")

    async def kept() -> tuple[str, int, str] | None:
        async with shared.database.read() as tx:
            row = (await tx.execute(select(WorkSoFar))).scalar_one_or_none()
        if row is None:
            return None
        return zlib.decompress(row.patch).decode(), len(row.changes), " ".join(row.left_out)

    token = "ghp_" + "a1B2c3D4e5F6" * 3
    for _ in range(2):
        assert (await box.put("/turns/t_1/work", json=_work(a="one", key=token))).status_code == 204
    patch, count, left_out = await kept() or ("", 0, "")
    assert "+one" in patch and token not in patch and count == 2 and left_out == "`key` (it holds a secret)"
    large = "x" * 40_000
    assert (await box.put("/turns/t_1/work", json=_work(a=large, b=token))).status_code == 204
    patch, _, left_out = await kept() or ("", 0, "")
    assert large in patch and "one" not in patch and token not in patch and "`b`" in left_out
    assert (await box.put("/turns/t_1/result", json={**RESULT, "reason": "report_failed"})).status_code == 204
    assert await kept() is not None, "the report says nothing of the work"
    assert (await box.put("/turns/t_1/work", json=_work(a="late"))).status_code == 409
    async with shared.database.write() as tx:
        await tx.execute(update(Turn).values(status="running", result=None))
    assert (await box.put("/turns/t_1/result", json=RESULT)).status_code == 204
    assert await kept() is None


@on_sqlite
async def test_work_of_an_earlier_try_and_under_another_token_is_refused(
    box: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared, status="running", token_hash="other")
    assert (await box.put("/turns/t_1/work", json=_work(a="one"))).status_code == 401
    async with shared.database.read() as tx:
        assert (await tx.execute(select(WorkSoFar))).first() is None
