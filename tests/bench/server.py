"""A server process of the bench: `python -m tests.bench.server bare|greenloop [CORE]` prints its ports and serves."""

import asyncio
import os
import socket
import sys

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.commands.common import listen
from app.gateway.gateway import ModelGateway
from app.logging import configure
from app.settings import Settings
from app.web.app import create_app, server
from loops.secrets.vault import Vault
from loops.store.database import Database


async def accepted(request: Request) -> Response:
    return Response(status_code=202)


def bare() -> uvicorn.Server:
    """Starlette answering 202."""
    app = Starlette(
        routes=[Route("/webhooks/github", accepted, methods=["POST"]), Route("/healthz", accepted)],
    )
    config = uvicorn.Config(
        app, loop="uvloop", http="httptools", ws="none", access_log=False, log_config=None, server_header=False,
        date_header=False,
    )  # fmt: skip
    return uvicorn.Server(config)


def greenloop(boxes: socket.socket) -> uvicorn.Server:
    """The service as it is, from the environment's settings."""
    settings = Settings()
    configure("warning", json=True)
    keys = settings.encryption_key_list()
    models = ModelGateway(Database(settings.database), Vault(keys), settings.price_of) if keys else None
    return server(create_app(settings, models=models), boxes=boxes)


async def main(kind: str, core: int | None = None) -> None:
    if core is not None:
        os.sched_setaffinity(0, {core})
    listening = listen("127.0.0.1", 0)
    boxes = listen("127.0.0.1", 0) if kind == "greenloop" else None
    print(listening.getsockname()[1], boxes.getsockname()[1] if boxes else 0, flush=True)
    await (greenloop(boxes) if boxes else bare()).serve(sockets=[listening])


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(sys.argv[1], *map(int, sys.argv[2:3])))
