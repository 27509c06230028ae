"""What people, programs and boxes hear while the database is away or takes no writes, and what the log says of it."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, TypeVar

import structlog
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.web.api import problems
from app.web.pages.render import page

T = TypeVar("T")

log = structlog.get_logger(__name__)

MISTAKES = ("no such", "syntax error", "has no column", "ambiguous")
"""How SQLite words what is wrong with a statement, under the same class as an outage."""
READ_ONLY = "25006"
"""PostgreSQL's code for a server that follows another one now, as after a failover."""
TELL_SECONDS = 60.0
RETRY_SECONDS = 5
SAID = "The database does not answer, or takes no writes. Nothing is lost that was acknowledged; try again in a moment."

Handler = Callable[[Request, Exception], Awaitable[Response]]


def is_outage(error: BaseException) -> bool:
    """Whether it is the database that is away, full or read-only, and not a statement of ours that is wrong."""
    if isinstance(error, (ConnectionError, TimeoutError, PoolTimeout, InterfaceError)):
        return True
    if isinstance(error, OperationalError):
        return not any(each in str(error.orig) for each in MISTAKES)
    if not isinstance(error, DBAPIError):
        return False
    return error.connection_invalidated or getattr(error.orig, "sqlstate", None) == READ_ONLY


def handlers(clock: Callable[[], float] = time.monotonic) -> Mapping[Any, Handler]:
    """An application's answers to what a database raises: 503 in words, and a log line a minute, for an outage."""
    told_at = -TELL_SECONDS

    async def answer(request: Request, error: Exception) -> Response:
        nonlocal told_at
        if not is_outage(error):
            raise error
        if clock() - told_at >= TELL_SECONDS:
            told_at = clock()
            said = f"{type(error).__name__}: {error}".splitlines()[0]
            log.error("database.away", error=said, path=request.url.path)
        headers = {"retry-after": str(RETRY_SECONDS)}
        if request.url.path.startswith("/api/"):
            return problems.answer(problems.Problem(503, SAID, headers=headers))
        if "text/html" not in request.headers.get("accept", ""):
            return JSONResponse({"error": SAID}, 503, headers)
        shown = page("message.html", 503, who="", title="Back in a moment", text=SAID, again=False)
        shown.headers.update(headers)
        return shown

    return {SQLAlchemyError: answer, ConnectionError: answer, TimeoutError: answer}


async def until_outage(stream: AsyncIterator[T]) -> AsyncIterator[T]:
    """The stream, which ends where the database goes away: who reads it comes again by itself, and hears why then."""
    try:
        async for each in stream:
            yield each
    except Exception as error:
        if not is_outage(error):
            raise
