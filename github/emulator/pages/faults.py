"""The page on which a person makes the local GitHub go wrong."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from github.emulator import faults
from github.emulator.hub import Hub
from github.emulator.pages.forms import fields
from github.emulator.pages.render import page

PATH = "/settings/faults"


class FaultPages:
    """The rules in force, one more, and none."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def routes(self) -> list[Route]:
        return [Route(PATH, self.show, methods=["GET"]), Route(PATH, self.change, methods=["POST"])]

    async def show(self, _: Request) -> Response:
        kinds = {"calls": faults.CALL_KINDS, "webhooks": faults.HOOK_KINDS, "CI": faults.CI_KINDS}
        kinds["other"] = faults.OTHER_KINDS
        return page("faults", rules=self._hub.faults.rules, kinds=kinds, lags=faults.LAGS, path=PATH)

    async def change(self, request: Request) -> Response:
        """Add the rule that was written, or clear all."""
        form = await fields(request, self._hub.store.origins.web)
        if form.get("clear"):
            self._hub.faults.clear()
        else:
            try:
                self._hub.faults.add_text(form.get("rule", ""))
            except ValueError as error:
                return PlainTextResponse(f"{error}\n", 422)
        return RedirectResponse(f"{self._hub.store.origins.web}{PATH}", 303)
