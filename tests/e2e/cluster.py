"""The whole house with its boxes on a cluster: our own, or the real one of `make test-cluster`."""

import asyncio
import contextlib
import functools
import os
import threading
from collections.abc import AsyncIterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from app.demo.places import own_address
from k8s.cluster import Cluster
from k8s.options import PodOptions
from loops.store.journal import after
from loops.store.tables import Turn
from tests.e2e.house import House
from tests.k8s.cluster.conftest import IMAGE, Place, grant, open_place
from tests.k8s.cluster_double.server import SmallCluster

Object = dict[str, Any]

# What `house.agent` wrote is on this machine; a pod, wherever it is, asks for it.
FETCHED = "python3 -c \"import urllib.request as web; exec(web.urlopen('{url}/agent.py').read())\""
RIGHT = "pathlib.Path('value.txt').write_text('right')"
# Goes on once somebody lets it; what was lost before that has done nothing.
HELD = f"print('begun', flush=True); wait()\n{RIGHT}"
RESOURCES = {"requests": {"memory": "32Mi"}, "limits": {"memory": "1Gi"}}


class ClusterHouse(House):
    """A house whose boxes are pods in `place`."""

    def __init__(self, folder: Path, place: Place) -> None:
        super().__init__(folder)
        self.place = place
        self.host = os.environ.get("GREENLOOP_TEST_HOST") or own_address(place.kubeconfig)
        self.patience = place.patience / 60
        self.files = ThreadingHTTPServer((self.host, 0), functools.partial(_Files, directory=str(folder)))
        self.url = f"http://{self.host}:{self.files.server_port}"
        self.look = f"__import__('urllib.request').request.urlopen({self.url + '/go'!r}).close()"

    @property
    def small(self) -> SmallCluster:
        """Our own cluster, for what only its owner can do."""
        assert self.place.small is not None
        return self.place.small

    @contextlib.asynccontextmanager
    async def client(self) -> AsyncIterator[Cluster]:
        """The API as an administrator sees it."""
        opened = await self.place.client()
        try:
            yield opened
        finally:
            await opened.close()

    async def found(self, kind: str = "Pod") -> list[Object]:
        """The boxes' pods, or other objects, that are there now and are not about to go."""
        async with self.client() as client:
            items, _ = await client.list(kind, "app.kubernetes.io/managed-by=greenloop")
        return [item for item in items if not item["metadata"].get("deletionTimestamp")]

    async def ask(self, login: str = "alice") -> int:
        """An issue, and the request to solve it: its number."""
        number = await self.issue(login=login)
        await self.comment(number, "@greenloop fix it", login=login)
        return number

    async def runs(self) -> Turn:
        """The newest turn, once its agent has begun to tell something."""

        async def look() -> Turn | None:
            found = await self.turns()
            return found[-1] if found and found[-1].status == "running" and found[-1].output_offset else None

        return await self.until(look)

    async def lost(self) -> None:
        """Until the newest turn has lost its box; from then on agents go on to their end."""

        async def look() -> bool:
            return (await self.turns())[-1].lost == 1

        await self.until(look)
        self.let_go()

    async def waits(self, words: str, number: int) -> str:
        """The comment on the issue, once it says that the turn waits and names `words`."""

        async def look() -> str | None:
            found = await self.bot_comments(number)
            return next((body for body in found if "⏳" in body and words in body), None)

        return await self.until(look)

    async def told(self, session: int | None = None) -> list[str]:
        """All that the newest session, or the one with that id, has told, in order."""
        number = session or (await self.sessions())[-1].id
        async with self.database.read() as tx:
            return [str(event.payload.get("text") or "") for event in await after(tx, number, 0, 10_000)]


@contextlib.asynccontextmanager
async def cluster_house(
    folder: Path, *, pod: Object | None = None, quota: dict[str, str] | None = None, **settings: Any
) -> AsyncIterator[ClusterHouse]:
    """A house that stands for the length of the block; `pod` are options of its boxes, `quota` the namespace's."""
    async with open_place(folder / "cluster") as place:
        if quota:
            await place.quota(**quota)
        opened = ClusterHouse(folder, place)
        threading.Thread(target=opened.files.serve_forever, daemon=True).start()
        options = {"image": IMAGE, "home": {"size": "1Gi"}, "graceSeconds": 5, "resources": RESOURCES, **(pod or {})}
        try:
            await opened.start(
                **{
                    "boxes": "kubernetes",
                    "kubeconfig": grant(place.small, place.namespace) if place.small else place.kubeconfig,
                    "box_namespace": place.namespace,
                    "box_pod": PodOptions.model_validate(options),
                    "command": FETCHED.format(url=opened.url),
                    **settings,
                }
            )
            yield opened
        finally:
            await opened.close()
            await asyncio.to_thread(opened.files.shutdown)
            opened.files.server_close()


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
