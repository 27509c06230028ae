"""The life of one container of a pod: started, probed, ended, and started again where its pod's policy says so."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from tests.k8s.cluster_double.kubelet.podstatus import container_status, terminated
from tests.k8s.cluster_double.kubelet.probes import Prober
from tests.k8s.cluster_double.kubelet.process import Process
from tests.k8s.cluster_double.objects.store import now

Object = dict[str, Any]
Begin = Callable[[Object], Awaitable[tuple[Process, Prober]]]

START_FAILED = 128
OOM_CODE = 137


class NotConfigurable(Exception):
    """Something that the container names is not there; the kubelet waits for it."""


class NotStartable(Exception):
    """Its entry point cannot be started."""


class ContainerLife:
    """`run` returns when the container has ended for good; each change before is told to `changed`."""

    def __init__(self, container: Object, pod: str, policy: str, changed: Callable[[], None]) -> None:
        self.spec = container
        self.name = str(container["name"])
        self.process: Process | None = None
        self.out_of_memory = False
        self.over = False
        self.failed = False
        self._pod = pod
        self._policy = policy
        self._changed = changed
        self._prober: Prober | None = None
        self._state: Object = {"waiting": {"reason": "ContainerCreating"}}
        self._last: Object = {}
        self._started = ""
        self._restarts = 0

    @property
    def has_begun(self) -> bool:
        """Whether it ever ran, or was to and could not."""
        return "waiting" not in self._state or bool(self._last)

    def status(self) -> Object:
        """Its entry in the pod's status."""
        return container_status(
            self.spec, self._state, restarts=self._restarts, last=self._last, prober=self._prober
        )  # fmt: skip

    async def run(self, begin: Begin, stopped: "asyncio.Future[float]", pause: Callable[[int], float]) -> None:
        """`stopped` holds the seconds of grace; `pause` says how long to wait before the nth start after an end."""
        while not stopped.done():
            try:
                self.process, self._prober = await begin(self.spec)
            except NotConfigurable as missing:
                self._tell({"waiting": {"reason": "CreateContainerConfigError", "message": str(missing)}})
                await asyncio.wait([stopped])
                break
            except NotStartable as unstartable:
                if self._policy == "Never":
                    self.failed = True
                    self._end(terminated(START_FAILED, now(), reason="StartError", message=str(unstartable)))
                    return
                self._tell({"waiting": {"reason": "RunContainerError", "message": str(unstartable)}})
            else:
                self._started = now()
                self._tell({"running": {"startedAt": self._started}})
                code = await self._until_end(stopped)
                self.failed = code != 0
                ended = self._ended(code)
                if stopped.done() or self._policy == "Never" or (self._policy == "OnFailure" and code == 0):
                    self._end(ended)
                    return
                # for a moment it is seen as ended
                self._tell(ended)
                self._last, self._restarts = ended, self._restarts + 1
                message = f"back-off restarting failed container in pod {self._pod}"
                self._tell({"waiting": {"reason": "CrashLoopBackOff", "message": message}})
            await asyncio.wait([stopped], timeout=pause(self._restarts))
        self.over = True

    async def kill(self) -> None:
        if self.process is not None:
            await self.process.kill()

    def _tell(self, state: Object) -> None:
        self._state = state
        self._changed()

    def _end(self, state: Object) -> None:
        self.over = True
        self._tell(state)

    async def _until_end(self, stopped: "asyncio.Future[float]") -> int:
        assert self.process is not None and self._prober is not None
        end = asyncio.ensure_future(self.process.wait())
        probing = asyncio.ensure_future(self._prober.watch(self._changed, self.process.kill))
        try:
            first: list[asyncio.Future[Any]] = [stopped, end]
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if not end.done():
                self.process.terminate()
                await asyncio.wait([end], timeout=stopped.result())
                await self.process.kill()
            return await end
        finally:
            probing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await probing

    def _ended(self, code: int) -> Object:
        assert self.process is not None
        if self.out_of_memory:
            self.out_of_memory = False
            return terminated(OOM_CODE, self._started, reason="OOMKilled")
        fallback = self.spec.get("terminationMessagePolicy") == "FallbackToLogsOnError" and code != 0
        return terminated(code, self._started, message=self.process.last_words() if fallback else "")
