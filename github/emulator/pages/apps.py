"""Pages of Apps: made by a manifest, shown, installed."""

import json
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from github.emulator.acts import installations, manifests
from github.emulator.hub import Hub
from github.emulator.pages.forms import fields
from github.emulator.pages.render import page
from github.emulator.store.apps import App
from github.emulator.store.repositories import Repository


class AppPages:
    """The manifest flow and the installation of an App, as a person walks through them."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def routes(self) -> list[Route]:
        return [
            Route("/settings/apps/new", self.ask, methods=["POST"]),
            Route("/organizations/{org}/settings/apps/new", self.ask, methods=["POST"]),
            Route("/settings/apps/create", self.agree, methods=["POST"]),
            Route("/apps/{slug}/installations/new", self.choose, methods=["GET"]),
            Route("/apps/{slug}/installations/new", self.install, methods=["POST"]),
        ]

    async def ask(self, request: Request) -> Response:
        """Show what the manifest asks for. It comes from another site, and changes nothing yet."""
        form = await fields(request)
        try:
            manifest = manifests.checked(json.loads(form.get("manifest", "")))
        except ValueError as error:
            return PlainTextResponse(f"Invalid GitHub App configuration: {error}\n", 422)
        org = request.path_params.get("org")
        owners = [u for u in self._hub.store.users if (u.login == org if org else u.type == "User")]
        state = request.query_params.get("state", "")
        return page("manifest", leaves=True, manifest=manifest, text=json.dumps(manifest), owners=owners, state=state)

    async def agree(self, request: Request) -> Response:
        """Agreed: back to the site that asked, with the code."""
        form = await fields(request, self._hub.store.origins.web)
        owner = self._hub.store.user(form.get("owner", ""))
        if owner is None:
            return PlainTextResponse("choose an account\n", 422)
        manifest = json.loads(form["manifest"])
        pending = manifests.agreed(self._hub.forge, owner, manifest)
        query = urlencode({"code": pending.code, "state": form.get("state", "")})
        return RedirectResponse(f"{manifest['redirect_url']}?{query}", 302)

    def _app(self, request: Request) -> App | None:
        return next((app for app in self._hub.store.apps if app.slug == request.path_params["slug"]), None)

    async def choose(self, request: Request) -> Response:
        app, store = self._app(request), self._hub.store
        if app is None:
            return page("missing", 404, path=request.url.path)
        owners: dict[str, list[Repository]] = {}
        for row in store.repositories:
            owners.setdefault(row.owner.login, []).append(row)
        return page("install", leaves=True, app=app, owners=owners)

    async def install(self, request: Request) -> Response:
        """Install on an account, on all or one of its repositories, and go to the App's set-up page."""
        app, store, form = self._app(request), self._hub.store, await fields(request, self._hub.store.origins.web)
        account = store.user(form.get("owner", ""))
        if app is None or account is None:
            return page("missing", 404, path=request.url.path)
        chosen = [r for r in store.repositories if r.owner is account and r.name == form.get("repository")]
        known = next((i for i in store.installations if i.app is app and i.account is account), None)
        row = known or installations.installed(self._hub.forge, app, account, account, chosen or None)
        query = urlencode({"installation_id": row.id, "setup_action": "update" if known else "install"})
        target = app.setup_url or f"{self._hub.store.origins.web}/"
        return RedirectResponse(f"{target}?{query}", 302)
