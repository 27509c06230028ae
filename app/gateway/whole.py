"""An answer from outside that is read whole, or not at all."""

import aiohttp


class NotWhole(Exception):
    """The answer broke off, or is longer than it may be. The message says which."""


async def whole(answer: aiohttp.ClientResponse, most: int) -> bytes:
    """The body of the answer, of `most` bytes at most. Raises NotWhole."""
    body = bytearray()
    try:
        while piece := await answer.content.readany():
            body += piece
            if len(body) > most:
                raise NotWhole(f"longer than {most} bytes")
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise NotWhole(type(error).__name__) from None
    return bytes(body)
