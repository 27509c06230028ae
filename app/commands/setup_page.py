"""The page of `greenloop setup`: a form that GitHub turns into an App, and the exchange when the browser comes back."""

import asyncio
import json
import secrets
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from app.web.pages.render import HEADERS, STATIC, html
from github.apps.manifest import NewApp, convert
from github.client.addresses import Addresses
from github.client.errors import GitHubError

LINGER_SECONDS = 1.0
"""How long the page's style sheet can still be fetched after the last page was sent."""


class SetupPage:
    """Serves until the App is made. `keep` is given it at once: GitHub tells its key and secrets only once."""

    def __init__(
        self,
        addresses: Addresses,
        manifest: Mapping[str, Any],
        action: str,
        state: str,
        folder: Path,
        keep: Callable[[NewApp], None],
    ) -> None:
        self._addresses = addresses
        self._manifest = manifest
        self._action = action
        self._state = state
        self._folder = folder
        self._keep = keep
        self._made: NewApp | None = None
        self.app = Starlette(
            routes=[
                Route("/", self._form),
                Route("/created", self._created),
                Mount("/static", StaticFiles(directory=STATIC)),
            ]
        )
        self._server = uvicorn.Server(uvicorn.Config(self.app, lifespan="off", log_config=None, access_log=False))

    async def serve(self, listening: socket.socket) -> NewApp | None:
        """Serve on `listening`. Answers with the App, or None if the person gave up."""
        await self._server.serve(sockets=[listening])
        return self._made

    async def _form(self, request: Request) -> Response:
        return self._ask()

    async def _created(self, request: Request) -> Response:
        if self._made is not None:
            return self._done(self._made)
        if not secrets.compare_digest(request.query_params.get("state", ""), self._state):
            return self._ask("This answer belongs to another set-up. Start again here.", 400)
        try:
            app = await convert(self._addresses, request.query_params.get("code", ""))
        except GitHubError as error:
            return self._ask(f"GitHub did not give the App: {error}", 502)
        self._keep(app)
        self._made = app
        return self._done(app, BackgroundTask(self._end))

    async def _end(self) -> None:
        await asyncio.sleep(LINGER_SECONDS)
        self._server.should_exit = True

    def _ask(self, problem: str = "", status: int = 200) -> HTMLResponse:
        github = urlsplit(self._action)
        policy = HEADERS["content-security-policy"].replace(
            "form-action 'self'", f"form-action {github.scheme}://{github.netloc}"
        )
        text = html(
            "setup.html",
            problem=problem,
            name=self._manifest["name"],
            folder=self._folder,
            action=self._action,
            manifest=json.dumps(self._manifest),
        )
        return HTMLResponse(text, status, headers={**HEADERS, "content-security-policy": policy})

    def _done(self, app: NewApp, then: BackgroundTask | None = None) -> HTMLResponse:
        text = html("created.html", app=app, folder=self._folder)
        return HTMLResponse(text, headers=HEADERS, background=then)
