"""A worker that dies of what holds the word "poison": `python -m tests.attacks.dying_worker SETTINGS WHAT first|again`.

`WHAT` is `delivery`, or `step`: the step of a session that makes its turn ready. The first one is stopped at every
other such when it dies, as a worker is that had begun them.
"""

import asyncio
import os
import pickle
import sys
from pathlib import Path
from typing import Any

from app.process.worker import run
from app.settings import Settings
from github.webhooks.outcomes import Request
from loops.deliveries import route
from loops.engine import advance
from loops.requests.take_request import take_request
from loops.sessions.decide import Prepare
from loops.turns.preparing.prepare import prepare

POISON = "poison"


async def _dies_of(text: str) -> None:
    if POISON in text:
        await asyncio.sleep(1)
        os._exit(9)
    if sys.argv[3] == "first":
        await asyncio.sleep(60)


async def routing(loop: Any, guid: str, request: Request) -> Any:
    await _dies_of(str(request))
    return await take_request(loop, guid, request)


async def preparing(loop: Any, session: Any, action: Any) -> Any:
    await _dies_of(session.instruction)
    return await prepare(loop, session, action)


def main() -> None:
    settings: Settings = pickle.loads(Path(sys.argv[1]).read_bytes())  # noqa: S301
    if sys.argv[2] == "delivery":
        vars(route)["take_request"] = routing
    else:
        vars(advance)["STEPS"] = {**advance.STEPS, Prepare: preparing}
    asyncio.run(run(settings, str(settings.redis_url)))


if __name__ == "__main__":
    main()
