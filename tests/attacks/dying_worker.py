"""A worker that dies of a comment with the word "poison": `python -m tests.attacks.dying_worker SETTINGS first|again`.

The first one is stopped at every other comment when it dies, as a worker is that had begun them.
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
from loops.requests import route
from loops.requests.take_request import take_request

POISON = "poison"


async def dying(loop: Any, guid: str, request: Request) -> Any:
    if POISON in str(request):
        await asyncio.sleep(1)
        os._exit(9)
    if sys.argv[2] == "first":
        await asyncio.sleep(60)
    return await take_request(loop, guid, request)


def main() -> None:
    settings: Settings = pickle.loads(Path(sys.argv[1]).read_bytes())  # noqa: S301
    vars(route)["take_request"] = dying
    asyncio.run(run(settings, str(settings.redis_url)))


if __name__ == "__main__":
    main()
