"""Real servers of hooks, which say what they were sent."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from loops.options import LoopOptions


@dataclass
class Receiver:
    """Real servers of hooks. `taken`: what each was sent; `says`: what it answers, a status or more of it."""

    folder: Path
    url: str = ""
    taken: dict[str, list[web.Request]] = field(default_factory=dict)
    bodies: dict[str, list[bytes]] = field(default_factory=dict)
    says: dict[str, Callable[[], web.Response]] = field(default_factory=dict)

    def options(self, *hooks: dict[str, Any]) -> LoopOptions:
        file = self.folder / "hooks.json"
        file.write_text(json.dumps([{"url": f"{self.url}/{hook['name']}", **hook} for hook in hooks]))
        return LoopOptions(hooks_file=file, public_url="https://greenloop.example")

    async def answer(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        self.taken.setdefault(name, []).append(request)
        self.bodies.setdefault(name, []).append(await request.read())
        return self.says.get(name, web.Response)()

    def types(self, name: str) -> list[str]:
        return [json.loads(body)["type"] for body in self.bodies.get(name, [])]


@contextlib.asynccontextmanager
async def receiving(folder: Path) -> AsyncIterator[Receiver]:
    """A receiver that runs; its files go into `folder`."""
    made = Receiver(folder)
    app = web.Application()
    app.router.add_post("/{name}", made.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield made
    finally:
        await runner.cleanup()
