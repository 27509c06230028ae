"""A person lets an App act for them: the page that asks, and the exchange of its code."""

import json
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from github.emulator.acts import authorizations as acts
from github.emulator.hub import Hub
from github.emulator.pages.forms import fields
from github.emulator.pages.render import page
from github.emulator.store.apps import App

ASKED = ("client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method")


class AuthorizePages:
    """`/login/oauth/…`. Nobody is signed in here, so the page also asks who it is that agrees."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def routes(self) -> list[Route]:
        return [
            Route("/login/oauth/authorize", self.ask, methods=["GET"]),
            Route("/login/oauth/authorize", self.answer, methods=["POST"]),
            Route("/login/oauth/access_token", self.exchange, methods=["POST"]),
        ]

    def _app(self, client_id: str | None) -> App | None:
        return next((app for app in self._hub.store.apps if app.client_id == client_id), None)

    async def ask(self, request: Request) -> Response:
        """Show who asks; or go back at once with what is wrong, to the App's own address."""
        query = request.query_params
        app = self._app(query.get("client_id"))
        if app is None or not app.callback_urls:
            return page("missing", 404, path=request.url.path)
        try:
            acts.redirect_of(app, query.get("redirect_uri", ""))
        except acts.Mismatch:
            return _back(app.callback_urls[0], {**acts.MISMATCH, "state": query.get("state", "")})
        if query.get("code_challenge") and query.get("code_challenge_method") != "S256":
            return PlainTextResponse("code_challenge_method must be S256\n", 400)
        people = [user for user in self._hub.store.users if user.type == "User"]
        asked = {name: query[name] for name in ASKED if name in query}
        return page("authorize", leaves=True, app=app, people=people, asked=asked)

    async def answer(self, request: Request) -> Response:
        """Agreed or cancelled: back to the App, with a code or with the reason."""
        form = await fields(request, self._hub.store.origins.web)
        app, user = self._app(form.get("client_id")), self._hub.store.user(form.get("user", ""))
        if app is None or user is None:
            return PlainTextResponse("choose a person\n", 422)
        try:
            target = acts.redirect_of(app, form.get("redirect_uri", ""))
        except acts.Mismatch:
            return PlainTextResponse("the redirect_uri is none of the App's\n", 422)
        if form.get("answer") != "authorize":
            return _back(target, {**acts.DENIED, "state": form.get("state", "")})
        pending = acts.agreed(self._hub.forge, app, user, target, form.get("code_challenge", ""))
        return _back(target, {"code": pending.code, "state": form.get("state", "")})

    async def exchange(self, request: Request) -> Response:
        """A code for a token. Errors are answered with 200 too, as GitHub does."""
        raw = await request.body()
        media = request.headers.get("content-type", "").partition(";")[0]
        try:
            given = json.loads(raw) if media == "application/json" else dict(parse_qsl(raw.decode()))
        except ValueError:
            given = {}
        answer = acts.exchanged(self._hub.forge, {**request.query_params, **{k: str(v) for k, v in given.items()}})
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse(answer)
        return Response(urlencode(answer), media_type="application/x-www-form-urlencoded; charset=utf-8")


def _back(target: str, query: dict[str, str]) -> Response:
    return RedirectResponse(f"{target}{'&' if '?' in target else '?'}{urlencode(query)}", 302)
