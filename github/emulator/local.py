"""The local GitHub as one object: in a test, in the demo, or alone (`greenloop github`).

    local = LocalGitHub()
    await local.start()
    alice = local.add_user("alice")
    local.add_repository("alice/widgets", from_dir=folder)
    local.install("alice", ["widgets"])
    local.set_webhook("http://127.0.0.1:8000/webhooks/github")
    ...
    await local.stop()

The server runs in a thread of its own, so that a caller may run `git push` and wait for it. Every method may be
called from any thread, before `start` or after.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from github.emulator.administration import control
from github.emulator.administration.admin import Admin
from github.emulator.options import EmulatorOptions
from github.emulator.serving.listen import Listener

T = TypeVar("T")


class LocalGitHub(Admin):
    """See the module. `data_dir` keeps the bare repositories; without it they are in a folder that `stop` removes."""

    def __init__(
        self,
        data_dir: Path | str | None = None,
        app_slug: str = "greenloop",
        options: EmulatorOptions | None = None,
    ) -> None:
        self._temporary = data_dir is None
        self.data_dir = Path(tempfile.mkdtemp(prefix="local-github-") if data_dir is None else data_dir).absolute()
        self.data_dir.mkdir(parents=True, exist_ok=True)
        super().__init__(self.data_dir, app_slug, options or EmulatorOptions())
        self._listener: Listener | None = None

    # life

    async def start(self, port: int = 0, logs_port: int = 0, host: str = "127.0.0.1") -> "LocalGitHub":
        """Listen on `port` (0: any free one), and on `logs_port` for log blobs."""
        self._listener = Listener(self.hub, control.routes(self), host, port, logs_port)
        await asyncio.to_thread(self._listener.start)
        return self

    async def stop(self) -> None:
        """Stop serving, delivering and building; remove the repositories if they were temporary."""
        if self._listener is not None:
            await asyncio.to_thread(self._listener.stop)
            self._listener = None
        if self._temporary:
            await asyncio.to_thread(shutil.rmtree, self.data_dir, True)

    async def __aenter__(self) -> "LocalGitHub":
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def idle(self, seconds: float = 120.0) -> None:
        """Wait until no webhook is on its way and no workflow runs. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while self.hub.hooks.busy or self.hub.ci.busy:
                await asyncio.sleep(0.02)

    def call(self, act: Callable[[], T]) -> T:
        """Run something on the server's loop, where nothing else changes the store meanwhile."""
        listener = self._listener
        if listener is None or listener.here():
            return act()
        return listener.call(act)
