"""One list-then-watch a worker: the cluster's pods as they are, without polling any of them.

The rules, from https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes: list, watch
from the list's version, move on with bookmarks, list again on 410. Connections that die are opened again with a
back-off that never gives up; meanwhile `synced` is false and the last known objects stay.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, Protocol

import structlog

from k8s.cluster import ClusterError

Object = dict[str, Any]

log = structlog.get_logger()

# The server ends a watch after this time and we go on from the last version; controllers use 5 to 10 minutes.
WATCH_SECONDS = 290.0
# A full list this often mends whatever a lost event left behind.
RELIST_SECONDS = 1800.0
BACKOFF_SECONDS = (0.2, 15.0)


class Source(Protocol):
    """What a watch reads: `k8s.cluster.Cluster`, or a script of answers in a test."""

    async def list(self, kind: str, labels: str) -> tuple[list[Object], str]: ...

    def watch(self, kind: str, labels: str, version: str, seconds: float) -> AsyncIterator[tuple[str, Object]]: ...


class Watch:
    """The objects of one kind that match `labels`, by name. `run` keeps them current for as long as it runs."""

    def __init__(
        self,
        source: Source,
        kind: str,
        labels: str,
        *,
        watch_seconds: float = WATCH_SECONDS,
        relist_seconds: float = RELIST_SECONDS,
        backoff: tuple[float, float] = BACKOFF_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.objects: dict[str, Object] = {}
        self.synced = False
        self._source = source
        self._kind = kind
        self._labels = labels
        self._watch_seconds = watch_seconds
        self._relist_seconds = relist_seconds
        self._backoff = backoff
        self._clock = clock
        self._followers: set[asyncio.Queue[tuple[str, Object | None]]] = set()
        self._version: str | None = None
        self._listed_at = 0.0

    async def run(self) -> None:
        """List and watch until cancelled."""
        failures = 0
        while True:
            try:
                await self._follow()
                failures = 0
            except ClusterError as error:
                failures += 1
                if error.status == 410 and failures == 1:
                    log.info("watch.expired", kind=self._kind)
                    self._version = None
                else:
                    await self._lost(error, failures)
            except Exception as error:
                # whatever it is: a watch that died would go on to show what was true when it did
                failures += 1
                await self._lost(error, failures)

    async def changes(self) -> AsyncGenerator[tuple[str, Object | None], None]:
        """Yield (name, object or None when gone) of what there is now and of every change, relists included."""
        queue: asyncio.Queue[tuple[str, Object | None]] = asyncio.Queue()
        for known in self.objects.items():
            queue.put_nowait(known)
        self._followers.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._followers.discard(queue)

    async def _follow(self) -> None:
        if self._version is None or self._clock() - self._listed_at > self._relist_seconds:
            items, self._version = await self._source.list(self._kind, self._labels)
            self._listed_at = self._clock()
            self._replace({item["metadata"]["name"]: item for item in items})
        seconds = self._watch_seconds * random.uniform(0.8, 1.0)  # noqa: S311  workers must not all come back at once
        started = self._clock()
        changes = self._source.watch(self._kind, self._labels, self._version, seconds)
        async with contextlib.aclosing(changes):  # type: ignore[type-var]
            async for change, item in changes:
                self._version = item["metadata"]["resourceVersion"]
                if change != "BOOKMARK":
                    self._apply(change, item)
        if self._clock() - started < 1:
            # A server that ends every watch at once must not make us spin.
            await asyncio.sleep(self._backoff[0])

    def _replace(self, objects: dict[str, Object]) -> None:
        before, self.objects, self.synced = self.objects, objects, True
        for name in before.keys() | objects.keys():
            if before.get(name) != objects.get(name):
                self._tell(name)

    def _apply(self, change: str, item: Object) -> None:
        name = item["metadata"]["name"]
        if change == "DELETED":
            self.objects.pop(name, None)
        else:
            self.objects[name] = item
        self._tell(name)

    def _tell(self, name: str) -> None:
        for queue in self._followers:
            queue.put_nowait((name, self.objects.get(name)))

    async def _lost(self, error: Exception, failures: int) -> None:
        # What was missed meanwhile only a fresh list can tell; it is small, for the server selects by label.
        self.synced, self._version = False, None
        first, longest = self._backoff
        pause = min(longest, first * 2 ** min(failures - 1, 16)) * random.uniform(0.5, 1.0)  # noqa: S311
        log.warning("watch.lost", kind=self._kind, error=str(error), failures=failures, again_in=round(pause, 2))
        await asyncio.sleep(pause)
