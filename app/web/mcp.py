"""/mcp: the same contracts for agents that speak the Model Context Protocol (streamable HTTP, without state).

The bearer token is that of the JSON API; without one configured there is no /mcp either.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import wraps
from importlib import metadata
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.web import api, session_operations
from app.web.state import AppState
from loops import operations
from loops.runtimes import registry

PATH = "/mcp"
SURFACE = "mcp"

Installation = Annotated[int | None, Field(description="The tenant; needed only where several are known.")]
SessionId = Annotated[str, Field(description="The id that start_session answered with.")]

Tool = Callable[..., Awaitable[dict[str, Any]]]


class McpSurface:
    """The endpoint. `running()` has to be entered before the first request."""

    def __init__(self, here: AppState) -> None:
        self._server = MCPServer(
            "greenloop",
            version=metadata.version("greenloop"),
            instructions="Coding agents that open pull requests and repair them.",
        )
        for tool in _tools(here):
            self._server.add_tool(_told(tool))
        self._app: ASGIApp = self._server.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=api.BODY_LIMIT,
            # every request carries the token, which no foreign page has: any host name of ours will do
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """What serves the requests; leave it when the server stops."""
        return self._server.session_manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = api.refusal(Request(scope))
        await (refused or self._app)(scope, receive, send)


def _tools(here: AppState) -> list[Tool]:
    async def start_session(
        repository: Annotated[int | str, Field(description="GitHub's numeric id, or owner/name.")],
        instruction: Annotated[str, Field(description="What is to be done.")],
        base: Annotated[str | None, Field(description="The branch to start from; else the default branch.")] = None,
        max_steps: Annotated[int | None, Field(description="Steps of the agent in a turn, 1 to 200.")] = None,
        person: Annotated[str | None, Field(description="Login of the person whose box and account are used.")] = None,
        runtime: Annotated[str | None, Field(description=f"{registry.choices()}.")] = None,
        model: Annotated[str | None, Field(description="The model, as the runtime names it.")] = None,
        installation: Installation = None,
    ) -> dict[str, Any]:
        """Start a session: an agent works on the repository, opens a pull request and repairs it while checks are red.

        Answers with its id. There is no approval in between: caps and the person's write access bound it.
        """
        wish = operations.StartRequest(
            repository=repository,
            instruction=instruction,
            base=base,
            max_steps=max_steps,
            person=person,
            runtime=runtime,
            model=model,
        )
        return session_operations.plain(await session_operations.start(here, installation, wish, SURFACE))

    async def get_session(
        session: SessionId,
        after: Annotated[int, Field(ge=0, description="Only events behind this seq.")] = 0,
        installation: Installation = None,
    ) -> dict[str, Any]:
        """All of a session: status, outcome, branch, pull request, diff, changed files, summary, usage and events."""
        return session_operations.plain(await session_operations.get(here, installation, session, after))

    async def cancel_session(session: SessionId, installation: Installation = None) -> dict[str, Any]:
        """Ask for a session's end. What it pushed stays."""
        return session_operations.plain(await session_operations.cancel(here, installation, session, SURFACE))

    async def list_sessions(
        status: Annotated[str | None, Field(description="Only those with this status.")] = None,
        limit: Annotated[int, Field(ge=1, le=500, description="So many at most.")] = 50,
        installation: Installation = None,
    ) -> dict[str, Any]:
        """Sessions, newest first."""
        found = await session_operations.list_sessions(here, installation, status, limit)
        return {"sessions": [session_operations.plain(each) for each in found]}

    return [start_session, get_session, cancel_session, list_sessions]


def _told(tool: Tool) -> Tool:
    """The tool, with what is wrong with the input told to the caller instead of logged as a crash."""

    @wraps(tool)
    async def told(*args: Any, **options: Any) -> dict[str, Any]:
        try:
            return await tool(*args, **options)
        except operations.Invalid as error:
            raise ToolError(f"{error.field}: {error}" if error.field else str(error)) from None
        except operations.Unknown as error:
            raise ToolError(str(error.args[0])) from None

    return told
