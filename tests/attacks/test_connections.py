"""Connections that say nothing, or too much, or come in too great a number, leave the service to the others."""

import asyncio
import contextlib
import resource
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_network
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.responses import Response
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from app.settings import Settings
from app.web.app import create_app
from app.web.connections import SPARE_DESCRIPTORS, ConnectionLimits
from app.web.held_bodies import HeldBodies, NoRoom
from loops.store.migrations import upgrade
from tests.app.boxside import seed, token_of_turn
from tests.app.serving import serving, serving_both

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
HEALTH = b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"


@asynccontextmanager
async def under(settings: Settings, limits: ConnectionLimits) -> AsyncIterator[Callable[..., Awaitable[Pair]]]:
    """A server with these limits; opens connections to it, by default from 127.0.0.1."""
    opened: list[asyncio.StreamWriter] = []
    async with serving(create_app(settings), limits=limits) as url:
        port = urlsplit(url).port or 0

        async def connect(source: str = "127.0.0.1") -> Pair:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
            opened.append(writer)
            return reader, writer

        yield connect
        for writer in opened:
            writer.close()


async def answer(pair: Pair) -> bytes:
    return await asyncio.wait_for(pair[0].readuntil(b"\r\n\r\n"), 30)


async def ask(pair: Pair, text: bytes = HEALTH) -> bytes:
    pair[1].write(text)
    return await answer(pair)


async def test_connections_on_which_nothing_is_asked_are_kept_until_it_becomes_crowded(settings: Settings) -> None:
    async with under(settings, ConnectionLimits(connections=4, crowded_idle_seconds=1)) as connect:
        early = [await connect(), await connect()]
        assert all([b" 200 " in await ask(each) for each in early])
        late = [await connect(), await connect()]
        assert all([b" 200 " in await ask(each) for each in late])
        await asyncio.gather(*(asyncio.wait_for(reader.read(), 30) for reader, _ in late))
        assert all([b" 200 " in await ask(each) for each in early])


async def test_silent_connections_are_closed_and_leave_health_to_the_others(settings: Settings) -> None:
    async with under(settings, ConnectionLimits(head_seconds=1.0)) as connect:
        silent = [await connect() for _ in range(150)]
        assert b" 200 " in await ask(await connect())
        assert all(b" 408 " in each for each in await asyncio.gather(*map(answer, silent)))
        assert b" 200 " in await ask(await connect())


async def test_a_head_that_comes_drop_by_drop_ends_in_408(settings: Settings) -> None:
    async with under(settings, ConnectionLimits(head_seconds=1.0)) as connect:
        pair = await connect()
        pair[1].write(b"GET /healthz HTTP/1.1\r\n")
        waiting = asyncio.ensure_future(answer(pair))
        for _ in range(4):
            await asyncio.sleep(0.2)
            pair[1].write(b"x: y\r\n")
        assert b" 408 " in await waiting


@pytest.mark.parametrize("path", ["/webhooks/github", "/turns/t_1/output", "/api/v1/sessions", "/nothing"])
async def test_a_body_that_does_not_come_ends_in_a_refusal(settings: Settings, path: str) -> None:
    async with under(settings, ConnectionLimits(body_seconds=1.0)) as connect:
        pair = await connect()
        head = f"POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n{{"
        told = await ask(pair, head.encode())
        assert told.split()[1] in (b"408", b"401", b"404", b"503")
        await asyncio.wait_for(pair[0].read(), 30)
        assert pair[0].at_eof()


async def test_a_second_request_on_a_connection_has_deadlines_as_well(settings: Settings) -> None:
    async with under(settings, ConnectionLimits(head_seconds=1.0)) as connect:
        pair = await connect()
        assert b" 200 " in await ask(pair)
        await pair[0].readexactly(len(b'{"status":"ok"}'))
        assert b" 408 " in await ask(pair, b"GET /healthz HTTP/1.1\r\n")


async def test_a_head_without_end_ends_in_431(settings: Settings) -> None:
    async with under(settings, ConnectionLimits(head_bytes=10_000)) as connect:
        assert b" 431 " in await ask(await connect(), b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 5_000)


async def test_a_head_that_comes_whole_ends_in_431_and_a_body_that_comes_with_its_head_is_no_head(
    settings: Settings,
) -> None:
    async with under(settings, ConnectionLimits(head_bytes=10_000)) as connect:
        large = HEALTH[:-2] + b"x: " + b"y" * 12_000 + b"\r\n\r\n"
        assert b" 431 " in await ask(await connect(), large)
        pair = await connect()
        for _ in range(2):
            body = b"x" * 30_000
            assert b" 405 " in await ask(
                pair, HEALTH.replace(b"GET", b"PUT")[:-2] + b"content-length: 30000\r\n\r\n" + body
            )
            await pair[0].readuntil(b"Method Not Allowed")


CHUNKED = HEALTH.replace(b"GET", b"PUT")[:-2] + b"transfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("endless", [b"x: y\r\n", b"y"], ids=["of many lines", "of one line"])
async def test_what_follows_a_body_without_end_ends_in_431_or_with_the_connection(
    settings: Settings, endless: bytes
) -> None:
    async with under(settings, ConnectionLimits(head_bytes=10_000)) as connect:
        pair = await connect()
        # it is answered before its body is read to the end: what comes then is read by nobody, and kept by the parser
        assert b" 405 " in await ask(pair, CHUNKED + b"1\r\nx\r\n0\r\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(200):
                pair[1].write(b"x: " + endless * 1_000)
                await pair[1].drain()
        with contextlib.suppress(ConnectionError):
            assert b" 431 " in await asyncio.wait_for(pair[0].read(), 30)


async def test_what_stands_behind_a_body_is_no_header(settings: Settings) -> None:
    heard: list[list[tuple[bytes, bytes]]] = []

    async def listens(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        heard.append(list(scope["headers"]))
        await Response()(scope, receive, send)

    app = create_app(settings)
    app.router.routes.insert(0, Mount("/heard", listens))
    async with serving(app) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
        head = CHUNKED.replace(b"/healthz", b"/heard/")
        assert b" 200 " in await ask((reader, writer), head + b"1\r\nx\r\n0\r\nauthorization: Bearer x\r\n\r\n")
        writer.close()
    assert heard == [[(b"host", b"a"), (b"transfer-encoding", b"chunked")]]


async def test_what_is_no_http_is_answered_and_writes_no_log(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with under(settings, ConnectionLimits()) as connect:
        assert b" 400 " in await ask(await connect(), b"nonsense\r\n\r\n")
    assert "Invalid HTTP" not in caplog.text


async def test_beyond_the_most_connections_the_answer_is_503_until_one_leaves(settings: Settings) -> None:
    async with under(settings, ConnectionLimits(connections=5)) as connect:
        held = [await connect() for _ in range(5)]
        assert b" 200 " in await ask(held[0])
        refusal = await answer(await connect())
        assert b" 503 " in refusal and b"retry-after" in refusal
        held[1][1].close()
        for _ in range(100):
            await asyncio.sleep(0.02)
            # a refusal may come before the question
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                if b" 200 " in await ask(await connect()):
                    return
        raise AssertionError("no place came free")


async def test_one_address_leaves_places_to_the_others(settings: Settings) -> None:
    async with under(settings, ConnectionLimits(connections=10, for_peer=4)) as connect:
        held = [await connect() for _ in range(4)]
        assert b" 503 " in await answer(await connect())
        assert b" 200 " in await ask(await connect("127.0.0.2"))
        assert held


async def test_connections_of_a_trusted_proxy_count_in_all_only(settings: Settings) -> None:
    limits = ConnectionLimits(connections=6, for_peer=2, proxies=[ip_network("127.0.0.1/32")])
    async with under(settings, limits) as connect:
        held = [await connect() for _ in range(4)]
        assert b" 200 " in await ask(held[3])
        others = [await connect("127.0.0.2") for _ in range(2)]
        assert b" 503 " in await answer(await connect())
        assert others


async def test_a_strangers_address_is_no_proxys(settings: Settings) -> None:
    async with under(settings, ConnectionLimits(for_peer=2, proxies=[ip_network("127.0.0.1/32")])) as connect:
        held = [await connect("127.0.0.2") for _ in range(2)]
        assert b" 503 " in await answer(await connect("127.0.0.2"))
        assert held


def test_connections_leave_file_descriptors_to_the_rest() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert ConnectionLimits(connections=10**9).connections == soft - SPARE_DESCRIPTORS


async def test_a_file_that_is_declared_too_large_is_refused_before_a_byte_is_read(settings: Settings) -> None:
    await upgrade(settings.database)
    app = create_app(settings)
    await seed(app.state.shared, status="running")
    async with serving_both(app) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(served.boxes).port)
        token = token_of_turn(app.state.shared)
        head = f"PUT /turns/t_1/objects/{'1' * 40} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\n"
        told = await ask((reader, writer), f"{head}content-length: 200000000\r\n\r\n".encode())
        assert b" 413 " in told
        writer.close()
        async with httpx.AsyncClient(base_url=served.url) as client:
            assert (await client.get("/healthz")).status_code == 200


async def test_room_for_bodies_is_bounded_and_one_box_does_not_take_all_of_it() -> None:
    bodies = HeldBodies(100, each=2, waiting=1, seconds=0.2)
    async with bodies.room("a", 30), bodies.room("a", 30):
        with pytest.raises(NoRoom):
            async with bodies.room("a", 1):
                pass
        async with bodies.room("b", 40):
            with pytest.raises(NoRoom):
                async with bodies.room("c", 1):
                    pass
        waiting = asyncio.ensure_future(_held(bodies, "a"))
        await asyncio.sleep(0)
        with pytest.raises(NoRoom):
            await _held(bodies, "a")
        with pytest.raises(NoRoom):
            await waiting
    with pytest.raises(NoRoom):
        async with bodies.room("a", 101):
            pass
    assert await _held(bodies, "a")


async def test_who_waits_for_room_gets_it_when_it_is_free() -> None:
    bodies = HeldBodies(100)
    async with bodies.room("a", 100):
        waiting = asyncio.ensure_future(_held(bodies, "b"))
        await asyncio.sleep(0.05)
        assert not waiting.done()
    assert await waiting


async def _held(bodies: HeldBodies, whose: str) -> bool:
    async with bodies.room(whose, 10):
        return True
