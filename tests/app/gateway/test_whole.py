"""What is read whole from outside is whole, however it comes."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from app.gateway.whole import NotWhole, whole


@asynccontextmanager
async def answering(pieces: Sequence[bytes], *, length: int) -> AsyncIterator[aiohttp.ClientResponse]:
    """The answer of a server that says `length` and sends the pieces, each on its own."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-length": str(length)})
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
            await asyncio.sleep(0.01)
        assert request.transport is not None
        request.transport.close()
        return response

    app = web.Application()
    app.router.add_get("/", answer)
    async with TestServer(app) as server, aiohttp.ClientSession() as session, session.get(server.make_url("/")) as told:
        yield told


async def test_an_answer_in_pieces_is_read_to_its_end() -> None:
    async with answering([b'{"access_', b'token": "a"', b"}"], length=21) as told:
        assert await whole(told, 21) == b'{"access_token": "a"}'


async def test_an_answer_that_is_longer_than_it_may_be_is_none() -> None:
    async with answering([b"ab", b"cd"], length=4) as told:
        with pytest.raises(NotWhole, match="longer than 3 bytes"):
            await whole(told, 3)


async def test_an_answer_that_is_cut_is_none() -> None:
    async with answering([b"ab"], length=4) as told:
        with pytest.raises(NotWhole, match="Error"):
            await whole(told, 10)
