"""What a kubelet asks of a container: has it started, is it ready, is it alive."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from tests.k8s.cluster_double.network import port_of

Object = dict[str, Any]
Run = Callable[[list[str]], Awaitable[int]]


class Prober:
    """Probes one container at `address`. `run` executes a command in it; `pace` is how long a probe's second lasts.

    `started` and `ready` are what the probes said; a container without them is both at once.
    """

    def __init__(self, container: Object, address: str, run: Run, pace: float) -> None:
        self._container = container
        self._address = address
        self._run = run
        self._pace = pace
        self.started = "startupProbe" not in container
        self.ready = self.started and "readinessProbe" not in container

    async def watch(self, changed: Callable[[], None], dead: Callable[[], Awaitable[None]]) -> None:
        """Probe until cancelled. `changed` is called when `ready` changes, `dead` when the container has to end."""
        if "startupProbe" in self._container:
            if not await self._until(self._container["startupProbe"], wanted=True):
                await dead()
                return
            self.started = True
            self.ready = "readinessProbe" not in self._container
            changed()
        await asyncio.gather(self._readiness(changed), self._liveness(dead))

    async def _readiness(self, changed: Callable[[], None]) -> None:
        probe = self._container.get("readinessProbe")
        while probe is not None:
            await self._until(probe, wanted=not self.ready, endless=True)
            self.ready = not self.ready
            changed()

    async def _liveness(self, dead: Callable[[], Awaitable[None]]) -> None:
        probe = self._container.get("livenessProbe")
        if probe is not None:
            await self._until(probe, wanted=False, endless=True)
            await dead()

    async def _until(self, probe: Object, *, wanted: bool, endless: bool = False) -> bool:
        """Probe until the threshold of `wanted` answers in a row is reached; False after too many of the others."""
        thresholds = {True: probe.get("successThreshold", 1), False: probe.get("failureThreshold", 3)}
        counts = {True: 0, False: 0}
        await asyncio.sleep(probe.get("initialDelaySeconds", 0) * self._pace)
        while True:
            good = await self._good(probe)
            counts[good] += 1
            counts[not good] = 0
            if counts[wanted] >= thresholds[wanted]:
                return True
            if not endless and counts[not wanted] >= thresholds[not wanted]:
                return False
            await asyncio.sleep(probe.get("periodSeconds", 10) * self._pace)

    async def _good(self, probe: Object) -> bool:
        seconds = float(probe.get("timeoutSeconds", 1))
        with contextlib.suppress(TimeoutError, OSError, httpx.HTTPError):
            async with asyncio.timeout(seconds):
                if "httpGet" in probe:
                    port = port_of(self._container, probe["httpGet"]["port"])
                    async with httpx.AsyncClient(trust_env=False) as http:
                        answer = await http.get(f"http://{self._address}:{port}{probe['httpGet'].get('path', '/')}")
                    return 200 <= answer.status_code < 400
                if "tcpSocket" in probe:
                    port = port_of(self._container, probe["tcpSocket"]["port"])
                    _, writer = await asyncio.open_connection(self._address, port)
                    writer.close()
                    return True
                return await self._run(probe["exec"]["command"]) == 0
        return False
