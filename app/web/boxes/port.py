"""The port of boxes: everything that a box may ask of the service is here, and nothing of it on the public port.

Nothing leads to this port from outside: no ingress, and a network policy that lets boxes alone in.
"""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route

from app.web import health, outage
from app.web.boxes import next_turn, turns
from app.web.state import AppState


def box_app(shared: AppState, gateways: Sequence[BaseRoute] = ()) -> Starlette:
    """The application of that port. It lives as long as the public one, which owns `shared` and the `gateways`."""
    app = Starlette(routes=[*routes(), *gateways], exception_handlers=outage.handlers())
    app.state.shared = shared
    return app


def routes() -> list[BaseRoute]:
    """The routes of the runner's protocol, and probes; gateways come beside them."""
    return [
        Route("/boxes/{box}/next", next_turn.next_turn, methods=["POST"]),
        *turns.routes(),
        Route("/healthz", health.healthz),
        Route("/readyz", health.readyz),
    ]
