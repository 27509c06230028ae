"""/mcp: the same operations for agents that speak the Model Context Protocol (streamable HTTP, without state).

The bearer tokens are those of /api/v1, with the same scopes and rights; without any there is no /mcp either.
"""

import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from functools import wraps
from importlib import metadata
from typing import Annotated, Any, cast

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.api import acting, reading
from app.web.api.callers import Caller, caller_of
from app.web.api.inputs import BODY_LIMIT, check_text
from app.web.api.problems import Problem, answer
from app.web.state import AppState
from loops import operations
from loops.accounts.personal_tokens import SESSIONS_READ, SESSIONS_WRITE
from loops.operations import StartRequest
from loops.runtimes import registry
from loops.store.states import SessionStatus

PATH = "/mcp"
SURFACE = "mcp"
SESSION_URI = "greenloop://sessions/{session}"
_CALLER = "greenloop.caller"

Installation = Annotated[
    int | None, Field(description="The tenant; needed only with the operator's token, where several are known.")
]
SessionId = Annotated[str, Field(description="The id that start_session answered with.")]
Status = Annotated[SessionStatus | None, Field(description="Only those with this status.")]
Repository = Annotated[str | None, Field(description="Of this one only; else those of the token's person.")]

Tool = Callable[..., Awaitable[Any]]
"""A function that is called with keyword arguments, as the protocol names them."""


class McpSurface:
    """The endpoint. `running()` has to be entered before the first request."""

    def __init__(self, here: AppState) -> None:
        self._server = MCPServer(
            "greenloop",
            version=metadata.version("greenloop"),
            instructions="Coding agents that open pull requests and repair them.",
        )
        for tool in _tools(here):
            self._server.add_tool(_told(tool, ToolError))
        described = self._server.resource(
            SESSION_URI, name="session", description="All of a session, as get_session has it.",
            mime_type="application/json",
        )  # fmt: skip
        described(_told(_resource(here), ResourceError))
        self._app: ASGIApp = self._server.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=BODY_LIMIT,
            # every request carries the token, which no foreign page has: any host name of ours will do
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """What serves the requests; leave it when the server stops."""
        return self._server.session_manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            scope[_CALLER] = await caller_of(Request(scope))
        except Problem as problem:
            await answer(problem)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _caller(context: Context[Any, Any], scope: str) -> Caller:
    """Who sent the request that a tool is called by. Raises Problem where the token may not be used for that."""
    request = cast(Request, context.request_context.request)
    found: Caller = request.scope[_CALLER]
    found.needs(scope)
    return found


def _tools(here: AppState) -> list[Tool]:
    async def start_session(
        context: Context[Any, Any],
        repository: Annotated[int | str, Field(description="GitHub's numeric id, or owner/name.")],
        instruction: Annotated[str, Field(description="What is to be done.")],
        base: Annotated[str | None, Field(description="The branch to start from; else the default branch.")] = None,
        max_steps: Annotated[int | None, Field(description="Steps of the agent in a turn, 1 to 200.")] = None,
        person: Annotated[
            str | None,
            Field(description="Login whose box and account are used; only the operator's token may choose one."),
        ] = None,
        runtime: Annotated[str | None, Field(description=f"{registry.choices()}.")] = None,
        model: Annotated[str | None, Field(description="The model, as the runtime names it.")] = None,
        installation: Installation = None,
        idempotency_key: Annotated[
            str | None, Field(description="The same call with the same key, within a day, starts nothing more.")
        ] = None,
    ) -> dict[str, Any]:
        """Start a session: an agent works on the repository, opens a pull request and repairs it while checks are red.

        Answers with its id. There is no approval in between: caps and the person's write access bound it.
        """
        caller = _caller(context, SESSIONS_WRITE)
        wish = StartRequest(
            repository=repository,
            instruction=instruction,
            base=base,
            max_steps=max_steps,
            person=person,
            runtime=runtime,
            model=model,
        )
        done, _ = await acting.start(here, caller, installation, wish, SURFACE, idempotency_key)
        return asdict(done)

    async def get_session(
        context: Context[Any, Any],
        session: SessionId,
        after: Annotated[int, Field(ge=0, description="Only events behind this seq.")] = 0,
        installation: Installation = None,
    ) -> dict[str, Any]:
        """All of a session: status, outcome, branch, pull request, diff, changed files, summary, usage and events."""
        caller = _caller(context, SESSIONS_READ)
        return asdict(await reading.get(here, caller, installation, session, after))

    async def cancel_session(
        context: Context[Any, Any], session: SessionId, installation: Installation = None
    ) -> dict[str, Any]:
        """Ask for a session's end. What it pushed stays."""
        caller = _caller(context, SESSIONS_WRITE)
        return asdict(await acting.cancel(here, caller, installation, session, SURFACE))

    async def retry_session(
        context: Context[Any, Any],
        session: SessionId,
        instruction: Annotated[str, Field(description="Words that are added to the task.")] = "",
        installation: Installation = None,
        idempotency_key: Annotated[
            str | None, Field(description="The same call with the same key, within a day, asks for nothing more.")
        ] = None,
    ) -> dict[str, Any]:
        """One more turn with the same task."""
        caller = _caller(context, SESSIONS_WRITE)
        done, _ = await acting.retry(here, caller, installation, session, instruction, SURFACE, idempotency_key)
        return asdict(done)

    async def list_sessions(
        context: Context[Any, Any],
        status: Status = None,
        repository: Repository = None,
        limit: Annotated[int, Field(ge=1, le=500, description="So many at most.")] = 50,
        cursor: Annotated[str | None, Field(description="The `next` of the page before.")] = None,
        installation: Installation = None,
    ) -> dict[str, Any]:
        """Sessions, newest first."""
        caller = _caller(context, SESSIONS_READ)
        asked = {"status": status, "repository": repository, "cursor": cursor, "installation": installation}
        return asdict(await reading.page(here, caller, {**asked, "limit": limit}))

    return [start_session, get_session, cancel_session, retry_session, list_sessions]


def _resource(here: AppState) -> Tool:
    async def session_resource(session: str, context: Context[Any, Any]) -> str:
        caller = _caller(context, SESSIONS_READ)
        return json.dumps(asdict(await reading.get(here, caller, None, session, 0)), ensure_ascii=False)

    return session_resource


def _told(tool: Tool, refusal: type[Exception]) -> Tool:
    """The tool, with what is wrong with the input told to the caller instead of logged as a crash."""

    @wraps(tool)
    async def told(*args: Any, **options: Any) -> Any:
        try:
            for name, value in options.items():
                if isinstance(value, str):
                    check_text(name, value)
            return await tool(*args, **options)
        except operations.Invalid as error:
            raise refusal(f"{error.field}: {error}" if error.field else str(error)) from None
        except operations.Unknown as error:
            raise refusal(str(error.args[0])) from None
        except (operations.NotAgain, Problem) as error:
            raise refusal(str(error)) from None

    return told
