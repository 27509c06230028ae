"""Bodies of requests, never longer than they may be."""

from collections.abc import AsyncIterator

from starlette.requests import Request


class BodyTooLarge(ValueError):
    """More than such a request may hold."""


def declared(request: Request, limit: int) -> int:
    """The size of the body, known before a byte of it is read; `limit` where the request does not say. Raises
    BodyTooLarge."""
    told = request.headers.get("content-length", "")
    size = int(told) if told.isascii() and told.isdigit() and len(told) <= 18 else limit
    if size > limit:
        raise BodyTooLarge(f"{request.url.path}: the body has {size} bytes; {limit} are allowed")
    return size


async def parts(request: Request, limit: int) -> AsyncIterator[bytes]:
    """The body as it comes. Raises BodyTooLarge, and starlette's ClientDisconnect."""
    read = 0
    async for part in request.stream():
        read += len(part)
        if read > limit:
            raise BodyTooLarge(f"{request.url.path}: the body is longer than {limit} bytes")
        yield part


async def body_of(request: Request, limit: int) -> bytes:
    """All of the body. Raises as `parts` does."""
    return b"".join([part async for part in parts(request, limit)])
