"""The operations of /api/v1: for each its route, what it is given, what it answers, and the scope that it needs."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.web.api import acting, catalogue, reading, stream
from app.web.api.answers import (
    AccountPage,
    Began,
    Ending,
    EventPage,
    Me,
    RepositoryPage,
    SessionPage,
)
from app.web.api.callers import Caller
from app.web.api.inputs import Parameter, RetryBody, StartBody, body_as
from app.web.outage import until_outage
from app.web.state import AppState
from loops.accounts.personal_tokens import ACCOUNTS_READ, REPOSITORIES_READ, SESSIONS_READ, SESSIONS_WRITE
from loops.operations import Shown, StartRequest
from loops.store.states import SessionStatus

SURFACE: Final = "api"
EVENT_STREAM: Final = "text/event-stream"
DIFF: Final = "text/x-diff"

INSTALLATION: Final = Parameter(
    "installation", "The tenant; needed only with the operator's token, where several are known.", int, low=1
)
LIMIT: Final = Parameter("limit", "So many at most.", int, low=1, high=500, default=50)
CURSOR: Final = Parameter("cursor", "The `next` of the page before, with the same filters.")
AFTER: Final = Parameter("after", "Only events behind this seq.", int, default=0)
STATUSES: Final = tuple(each.value for each in SessionStatus)


@dataclass(frozen=True)
class Call:
    """One request: who calls, what for, and the values of its query."""

    request: Request
    here: AppState
    caller: Caller
    query: dict[str, Any]

    @property
    def session(self) -> str:
        return str(self.request.path_params["session"])

    @property
    def installation(self) -> int | None:
        return self.query.get("installation")

    @property
    def key(self) -> str | None:
        return self.request.headers.get("idempotency-key")


@dataclass(frozen=True)
class Operation:
    """`answer` is what is answered with `status`, as JSON; `media` are other types of content that it has, too."""

    method: str
    path: str
    name: str
    about: str
    perform: Callable[[Call], Awaitable[Response]]
    answer: type | None
    scope: str | None = None
    status: int = 200
    body: type | None = None
    query: tuple[Parameter, ...] = ()
    once: bool = False
    media: tuple[str, ...] = ()


def json_of(value: Any, status: int = 200, **headers: str) -> Response:
    """An answer as JSON."""
    return JSONResponse(asdict(value), status, headers=headers)


async def _me(call: Call) -> Response:
    return json_of(catalogue.me(call.caller))


async def _revoke(call: Call) -> Response:
    return json_of(await catalogue.end_token(call.here, call.caller))


async def _start(call: Call) -> Response:
    body: StartBody = await body_as(call.request, StartBody)
    wish = StartRequest(**{each.name: getattr(body, each.name) for each in fields(StartRequest)})
    done, before = await acting.start(call.here, call.caller, body.installation, wish, SURFACE, call.key)
    return json_of(done, 201, location=f"/api/v1/sessions/{done.session}", **_replayed(before))


async def _retry(call: Call) -> Response:
    body: RetryBody = await body_as(call.request, RetryBody, empty=RetryBody())
    done, before = await acting.retry(
        call.here, call.caller, call.installation, call.session, body.instruction, SURFACE, call.key
    )
    return json_of(done, 202, **_replayed(before))


async def _cancel(call: Call) -> Response:
    return json_of(await acting.cancel(call.here, call.caller, call.installation, call.session, SURFACE))


async def _list(call: Call) -> Response:
    return json_of(await reading.page(call.here, call.caller, call.query))


async def _get(call: Call) -> Response:
    return json_of(await reading.get(call.here, call.caller, call.installation, call.session, call.query["after"]))


async def _events(call: Call) -> Response:
    after, limit = call.query["after"], call.query["limit"]
    if EVENT_STREAM not in call.request.headers.get("accept", ""):
        return json_of(await reading.events(call.here, call.caller, call.installation, call.session, after, limit))
    spot = await reading.spot_of(call.here, call.caller, call.installation, call.session)
    behind = call.request.headers.get("last-event-id", "")
    if behind.isascii() and behind.isdigit() and len(behind) < 19:
        after = int(behind)
    return EventSourceResponse(until_outage(stream.stream(call.here, call.caller, spot, after)), ping=15)


async def _diff(call: Call) -> Response:
    text = await reading.diff(call.here, call.caller, call.installation, call.session)
    return Response(text.encode("utf-8", "replace"), media_type=DIFF, headers={"x-content-type-options": "nosniff"})


async def _accounts(call: Call) -> Response:
    return json_of(await catalogue.accounts(call.here, call.caller, call.query))


async def _repositories(call: Call) -> Response:
    return json_of(await catalogue.repositories(call.here, call.caller, call.query))


def _replayed(before: bool) -> dict[str, str]:
    return {"idempotency-replayed": "true"} if before else {}


_ONE: Final = "/api/v1/sessions/{session}"
_REPOSITORY: Final = Parameter("repository", "owner/name, or GitHub's numeric id.")
_TEXT: Final = Parameter("text", "Stands in the name.")

OPERATIONS: Final = (
    Operation("GET", "/api/v1/me", "getMe", "Whom the token acts for.", _me, Me),
    Operation("POST", "/api/v1/me/revoke", "endToken", "End this token, for good.", _revoke, Me),
    Operation(
        "POST",
        "/api/v1/sessions",
        "startSession",
        "Start a session.",
        _start,
        Began,
        SESSIONS_WRITE,
        status=201,
        body=StartBody,
        once=True,
    ),
    Operation(
        "GET",
        "/api/v1/sessions",
        "listSessions",
        "Sessions, newest first: with a repository all of it, else those that the token's person asked for last.",
        _list,
        SessionPage,
        SESSIONS_READ,
        query=(
            Parameter("status", "Only those.", choices=STATUSES),
            _REPOSITORY,
            Parameter("person", "Login of who asked last."),
            Parameter("text", "Stands in the title."),
            LIMIT,
            CURSOR,
            INSTALLATION,
        ),
    ),
    Operation(
        "GET",
        _ONE,
        "getSession",
        "All of a session, with its first 500 events behind `after`.",
        _get,
        Shown,
        SESSIONS_READ,
        query=(AFTER, INSTALLATION),
    ),
    Operation(
        "GET",
        f"{_ONE}/events",
        "listEvents",
        "What happened, a page at a time; as a stream that goes on behind Last-Event-ID, what happens.",
        _events,
        EventPage,
        SESSIONS_READ,
        query=(AFTER, LIMIT, INSTALLATION),
        media=(EVENT_STREAM,),
    ),
    Operation(
        "GET",
        f"{_ONE}/diff",
        "getDiff",
        "What the session changed.",
        _diff,
        None,
        SESSIONS_READ,
        query=(INSTALLATION,),
        media=(DIFF,),
    ),
    Operation(
        "POST",
        f"{_ONE}/cancel",
        "cancelSession",
        "Ask for a session's end; what it pushed stays.",
        _cancel,
        Ending,
        SESSIONS_WRITE,
        query=(INSTALLATION,),
    ),
    Operation(
        "POST",
        f"{_ONE}/retry",
        "retrySession",
        "One more turn with the same task.",
        _retry,
        Began,
        SESSIONS_WRITE,
        status=202,
        body=RetryBody,
        query=(INSTALLATION,),
        once=True,
    ),
    Operation(
        "GET",
        "/api/v1/accounts",
        "listAccounts",
        "A person's own provider accounts; with a repository, those of its installation, too.",
        _accounts,
        AccountPage,
        ACCOUNTS_READ,
        query=(_REPOSITORY, INSTALLATION),
    ),
    Operation(
        "GET",
        "/api/v1/repositories",
        "listRepositories",
        "Repositories in which the caller may ask for work.",
        _repositories,
        RepositoryPage,
        REPOSITORIES_READ,
        query=(_TEXT, LIMIT, CURSOR, INSTALLATION),
    ),
)
