"""`greenloop session` at a server: by its API, with the token of whoever logged in there."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from app.commands.common import listen
from app.commands.server.client import Client, ServerRefused
from app.commands.server.logins import Server, address, chosen, forget, keep
from app.commands.sessions.served import ServedSessions
from loops.operations import Brief, Happened, StartRequest
from loops.store import journal
from loops.store.states import SessionStatus
from loops.store.tables import Session
from tests.app.web.api.world import URL, World, world


@pytest.fixture
async def here(tmp_path: Path, sqlite_url: str, redis_url: str) -> AsyncIterator[World]:
    async with world(tmp_path, sqlite_url, redis_url) as made:
        yield made


class Cut(httpx.AsyncBaseTransport):
    """The service, whose answers are lost as `faults` say, one each: None is none."""

    def __init__(self, here: World, *faults: int | type[Exception] | None) -> None:
        self._inner = httpx.ASGITransport(here.app)
        self.faults = list(faults)
        self.seen: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request.headers.get("last-event-id", ""))
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, int):
            return httpx.Response(fault, headers={"retry-after": "7"}, json={"detail": "not now"})
        answer = await self._inner.handle_async_request(request)
        if fault is not None:
            raise fault("lost")
        return answer


async def sessions(here: World, login: str, transport: Cut, waits: list[float]) -> ServedSessions:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    http = httpx.AsyncClient(transport=transport)
    return ServedSessions(Client(Server(URL, await here.token(login)), sleep=sleep, http=http), None)


async def test_a_start_whose_answer_is_lost_starts_one_session(here: World) -> None:
    waits: list[float] = []
    alice = await sessions(here, "alice", Cut(here, httpx.ReadError, 503, httpx.ReadError), waits)
    name, status = await alice.start(StartRequest("acme/widgets", "fix it"))
    assert (status, waits) == ("pending", [1.0, 7.0, 4.0])
    assert [each.session for each in await alice.listed(status=None, repository=None, person=None, limit=9)] == [name]


async def test_a_stream_that_is_lost_goes_on_where_it_was(here: World) -> None:
    waits: list[float] = []
    alice = await sessions(here, "alice", cut := Cut(here), waits)
    name, _ = await alice.start(StartRequest("acme/widgets", "fix it"))
    async with here.shared.database.write() as tx:
        (await tx.get_one(Session, 1)).status = SessionStatus.COMPLETED
        await journal.append(tx, 1, [("status", {"text": "done"})], at=1.0)
    cut.faults = [httpx.ReadError, 503]
    told = [each async for each in alice.follow(name)]
    assert [each.seq for each in told if isinstance(each, Happened)] == [1, 2]
    assert [each.status for each in told if isinstance(each, Brief)] == ["completed"]
    assert waits == [1.0, 7.0]


async def test_what_a_server_refuses_is_told_in_its_own_words(here: World) -> None:
    dave = await sessions(here, "dave", Cut(here), [])
    with pytest.raises(ServerRefused, match="no session 's_0'"):
        await dave.get("s_0", events=False)
    with pytest.raises(ServerRefused, match="no session 's_0'"):
        [each async for each in dave.follow("s_0")]
    stranger = ServedSessions(
        Client(Server(URL, "glp_none"), http=httpx.AsyncClient(transport=httpx.ASGITransport(here.app))), None
    )
    with pytest.raises(ServerRefused, match="greenloop login"):
        await stranger.cancel("s_0")
    waits: list[float] = []
    gone = await sessions(here, "dave", Cut(here, *[502] * 5), waits)
    with pytest.raises(ValueError, match="does not answer: not now"):
        await gone.cancel("s_0")
    assert len(waits) == 4


async def greenloop(folder: Path, *words: str, stdin: str = "", gone: bool = False) -> tuple[int, str, str]:
    """The command as a person runs it, with nothing but what it asks a server for; `gone`: nobody reads its output."""
    known = {"PATH": os.environ["PATH"], "XDG_CONFIG_HOME": str(folder), "GREENLOOP_DATA": str(folder / "none")}
    reading, writing = os.pipe()
    os.close(reading)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app", *words, env=known,
        stdin=asyncio.subprocess.PIPE, stdout=writing if gone else asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    os.close(writing)
    out, err = await process.communicate(stdin.encode())
    return process.returncode or 0, (out or b"").decode(), err.decode()


@contextlib.asynccontextmanager
async def served(here: World) -> AsyncIterator[str]:
    """The service at a port, beside what it is already running with."""
    listening = listen("127.0.0.1", 0)
    running = uvicorn.Server(uvicorn.Config(here.app, lifespan="off", log_config=None, timeout_graceful_shutdown=5))
    task = asyncio.create_task(running.serve([listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        running.should_exit = True
        await task


async def test_a_person_logs_in_works_and_logs_out_from_a_shell(here: World, tmp_path: Path) -> None:
    async with served(here) as url:
        code, _, said = await greenloop(tmp_path, "login", url, "--token-stdin", stdin=await here.token("alice"))
        assert (code, f"logged in at {url} as alice" in said) == (0, True), said
        code, out, said = await greenloop(tmp_path, "session", "start", "acme/widgets", "fix it", "--json")
        assert (code, said) == (0, "")
        name = json.loads(out)["session"]
        async with here.shared.database.write() as tx:
            (await tx.get_one(Session, 1)).status = SessionStatus.COMPLETED
        code, out, said = await greenloop(tmp_path, "session", "watch", name)
        assert (code, said) == (0, "")
        assert out.splitlines()[-1] == f"{name} completed" and "asked for by alice" in out
        assert await greenloop(tmp_path, "session", "watch", name, gone=True) == (141, "", "")
        code, _, said = await greenloop(tmp_path, "logout", url)
        assert (code, said) == (0, "")


@pytest.mark.parametrize(
    ("named", "kept"),
    [
        ("greenloop.example.com/", "https://greenloop.example.com"),
        ("https://greenloop.example.com/loop", "https://greenloop.example.com/loop"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://greenloop.example.com", None),
        ("https://me:secret@greenloop.example.com", None),
        ("ftp://greenloop.example.com", None),
        ("https://", None),
    ],
)
def test_a_token_is_sent_to_no_address_where_others_could_read_it(named: str, kept: str | None) -> None:
    if kept is None:
        with pytest.raises(ValueError, match=r"greenloop\.example\.com"):
            address(named)
    else:
        assert address(named) == kept


def test_logins_are_kept_for_their_person_alone_and_the_last_one_is_meant(tmp_path: Path) -> None:
    mine = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert chosen(None, mine) is None and chosen("", mine) is None
    file = keep(Server("https://a.example", "glp_a"), mine)
    keep(Server("https://b.example", "glp_b"), mine)
    assert file.stat().st_mode & 0o777 == 0o600
    assert (chosen(None, mine), chosen("a.example", mine)) == (
        Server("https://b.example", "glp_b"),
        Server("https://a.example", "glp_a"),
    )
    assert chosen("a.example", {**mine, "GREENLOOP_TOKEN": "glp_c"}) == Server("https://a.example", "glp_c")
    assert "glp_" not in repr(chosen(None, mine))
    with pytest.raises(ValueError, match="not logged in at https://c"):
        chosen("c.example", mine)
    forget("https://b.example", mine)
    assert chosen(None, mine) is None
    file.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        chosen(None, mine)
