"""A model of the bench: `python -m tests.bench.model` prints its port and streams EVENTS events, the first at once."""

import asyncio
import json

import uvloop

EVENTS, PAUSE = 100, 0.05
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"' + b"word " * 20 + b'"}}]}\n\n'
USAGE = {"choices": [], "usage": {"prompt_tokens": 20_000, "completion_tokens": EVENTS}}
LAST = b"data: " + json.dumps(USAGE).encode() + b"\n\ndata: [DONE]\n\n"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection; a body that ends with `slow` is answered slowly."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n", 1)[0])
            slow = b'"slow"' in await reader.readexactly(length)
            writer.write(HEAD + chunk(EVENT))
            for _ in range(EVENTS - 1 if slow else 0):
                await asyncio.sleep(PAUSE)
                writer.write(chunk(EVENT))
                await writer.drain()
            await asyncio.sleep(PAUSE / 2)
            writer.write(chunk(LAST) + b"0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
