"""POST /boxes/{box}/next: a box waits for its next turn, and gets it with the turn's own token."""

import asyncio
import contextlib
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.web.boxes.requests import SMALL_BODY, answers, bearer, json_of
from app.web.boxes.turns import store_report
from app.web.state import AppState, app_state
from k8s.runner import protocol
from loops.accounts.box_secrets import CannotPrepare
from loops.protocol import assign_turn
from loops.protocol.access import box_with, has_news
from loops.protocol.tokens import lifetime
from loops.store.bus import wait
from loops.store.leases import make_due

LOOK_AGAIN = 3.0
"""Seconds between looks at the database while a box waits: a wake over Redis comes at once. Where none can come the bus
shortens them."""


@answers
async def next_turn(request: Request) -> Response:
    """POST /boxes/{box}/next: the box's turn, as soon as there is one; 204 after `POLL_SECONDS`."""
    here = app_state(request)
    name = request.path_params["box"]
    token = bearer(request)
    holding = _holding(await json_of(request, SMALL_BODY))
    async with here.database.read() as tx:
        box = await box_with(tx, name, token, here.clock(), lifetime(here.settings))
    if has_news(box, token):
        async with here.database.write() as tx:
            await assign_turn.forget_former_token(tx, name)
    deadline = asyncio.get_running_loop().time() + protocol.POLL_SECONDS
    with here.bus.listening(f"box:{name}") as event:
        first = True
        while True:
            # the first look also tells that the box lives
            if first or await _is_waiting(here, name):
                answer = await _hand_out(here, name, token, holding)
                if answer is not None:
                    return answer
            first = False
            left = deadline - asyncio.get_running_loop().time()
            pause = min(left, here.bus.pause(LOOK_AGAIN))
            if left <= 0 or here.stopping.is_set() or not await _wait(here, request, event, pause):
                return Response(status_code=204)


async def _is_waiting(here: AppState, box: str) -> bool:
    async with here.database.read() as tx:
        return await assign_turn.is_waiting(tx, box)


async def _hand_out(here: AppState, box: str, token: str, holding: str | None) -> Response | None:
    async with here.database.write() as tx:
        found = await assign_turn.take(tx, box, token, here.box_key, holding=holding, now=here.clock())
        if found is not None:
            # its box is looked up as soon as it falls silent, no later
            await make_due(tx, found.turn.session_id, here.clock() + here.settings.box_silence)
    if found is None:
        return None
    try:
        env, files = await here.credentials.materialise(found.turn)
    except CannotPrepare as error:
        await store_report(here, found.turn, protocol.Result("credentials", message=str(error)), {})
        return None
    here.metrics.assignments.inc()
    here.bus.notify(f"session:{found.turn.session_id}")
    return JSONResponse(assign_turn.as_told(found, env, files))


async def _wait(here: AppState, request: Request, event: asyncio.Event, seconds: float) -> bool:
    """Wait for a wake, `seconds`, or the server's end. False when the client is gone."""
    tasks = [
        asyncio.ensure_future(wait(event, seconds)),
        asyncio.ensure_future(here.stopping.wait()),
        asyncio.ensure_future(request.receive()),
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return not tasks[2].done()
    finally:
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def _holding(body: dict[str, Any]) -> str | None:
    runner = body.get("runner")
    held = runner.get("turn") if isinstance(runner, dict) else None
    return held if isinstance(held, str) else None
