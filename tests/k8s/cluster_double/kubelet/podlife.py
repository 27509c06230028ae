"""The life of one pod on this machine, from its binding to a node to its last status."""

import asyncio
import functools
import re
import shutil
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.k8s.cluster_double.kubelet.mounts import NotMountable, Volumes, translate, translation
from tests.k8s.cluster_double.kubelet.podstatus import condition, container_status, terminated, waiting, with_condition
from tests.k8s.cluster_double.kubelet.probes import Prober
from tests.k8s.cluster_double.kubelet.process import Process, Programs, environment
from tests.k8s.cluster_double.network import Network, resolved
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.objects.store import Store, now
from tests.k8s.cluster_double.validation.quantities import quantity

Object = dict[str, Any]

POD = BY_KIND["Pod"]
ACCOUNT = BY_KIND["ServiceAccount"]
IMAGE = re.compile(
    r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?::\d+)?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@\S+)?"
)
START_FAILED = 128
OOM_CODE = 137
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104


@dataclass
class Machine:
    """The machine that pods run on.

    `images`: what the registries have, None for everything; `present`: what is on the node without pulling.
    `classes`: storage classes that provide no volume (yet), with how they bind; None while every claim gets its volume.
    `services`: where services of the cluster really are, by URL; it stands for the cluster's DNS in environments.
    `start_delay` seconds pass before a container starts, `check_seconds` between two looks at memory and disk,
    `restart_seconds` before a container that ended is started again, doubled each time up to `restart_limit`. `pace` is
    how long a second of probes and of jobs' waits lasts. `credentials` writes the kubeconfig of a service account, in
    place of its token.
    """

    folder: Path
    images: set[str] | None = None
    present: set[str] = field(default_factory=set)
    classes: dict[str, str] | None = None
    services: dict[str, str] = field(default_factory=dict)
    programs: Programs = field(default_factory=Programs.of_this_machine)
    start_delay: float = 0.0
    retry_seconds: float = 0.2
    check_seconds: float = 0.25
    restart_seconds: float = 0.5
    restart_limit: float = 10.0
    pace: float = 1.0
    network: Network = field(default_factory=Network)
    credentials: Callable[[str, str, Path], None] | None = None

    def volumes(self, store: Store, uid: str) -> Volumes:
        return Volumes(store, self.folder / "pods" / uid, self.folder / "claims")

    def log(self, uid: str) -> Path:
        path = self.folder / "logs" / f"{uid}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def drop_claim(self, uid: str) -> None:
        shutil.rmtree(self.folder / "claims" / uid, ignore_errors=True)

    def image_trouble(self, image: str, policy: str) -> tuple[str, str] | None:
        """The waiting reason and message for an image that cannot be had; None when it is there."""
        if not IMAGE.fullmatch(image):
            return "InvalidImageName", f'Failed to apply default image tag "{image}": invalid reference format'
        if policy == "Never" and image not in self.present:
            return "ErrImageNeverPull", f'Container image "{image}" is not present with pull policy of Never'
        if self.images is not None and image not in self.images | self.present:
            return "ErrImagePull", f'failed to pull and unpack image "{image}": {image}: not found'
        return None


class PodLife:
    """Runs one pod that is bound to a node. `run` returns when the pod has ended and its status says how."""

    def __init__(self, store: Store, machine: Machine, pod: Object) -> None:
        self.namespace, self.name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        self._store = store
        self._machine = machine
        self._pod = pod
        self._uid = pod["metadata"]["uid"]
        self._volumes = machine.volumes(store, self._uid)
        self._folders: dict[str, Path] = {}
        self._processes: dict[str, Process] = {}
        self._started: dict[str, str] = {}
        self._grace: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._verdict: tuple[str, str] | None = None
        self._oom: set[str] = set()
        self._address = machine.network.pod()
        self._commands: dict[str, tuple[dict[str, str], Path]] = {}
        self._probers: dict[str, Prober] = {}
        self._restarts = 0
        self._unstartable = False

    def stop(self, grace: float) -> None:
        """The pod is being deleted: SIGTERM now, SIGKILL after `grace` seconds."""
        if not self._grace.done():
            self._grace.set_result(grace)

    def gone(self) -> None:
        """The object was removed by force: nothing is left to wait for."""
        self.stop(0)

    def end_as(self, reason: str, message: str) -> None:
        """End the pod as failed for a reason of the node's."""
        self._verdict = self._verdict or (reason, message)
        self.stop(0)

    def refresh(self) -> None:
        """Bring mounted secrets up to date."""
        if self._folders:
            try:
                self._volumes.prepare(self._pod)
            except NotMountable:
                return

    async def run(self) -> None:
        try:
            while await self._prepare():
                started = await self._start()
                if not (await self._live() if started else self._unstartable):
                    break
                await self._back_off()
            self._end()
        finally:
            await asyncio.gather(*(process.kill() for process in self._processes.values()))
            self._volumes.clear()

    async def _prepare(self) -> bool:
        """Mount and pull, again and again until it works or the pod is deleted."""
        failures = 0
        while not self._grace.done():
            trouble = self._trouble()
            if trouble is None:
                await self._pause(self._machine.start_delay)
                return not self._grace.done()
            reason, message = trouble
            if reason == "ErrImagePull" and failures % 2:
                reason, message = "ImagePullBackOff", f"Back-off pulling image: {message}"
            failures += 1
            self._write("Pending", waiting(self._pod, reason, message))
            await self._pause(self._machine.retry_seconds)
        return False

    def _trouble(self) -> tuple[str, str] | None:
        try:
            self._folders = self._volumes.prepare(self._pod)
        except NotMountable:
            return "ContainerCreating", ""
        for container in self._pod["spec"]["containers"]:
            trouble = self._machine.image_trouble(container["image"], container["imagePullPolicy"])
            if trouble:
                return trouble
        return None

    async def _pause(self, seconds: float) -> None:
        await asyncio.wait([self._grace], timeout=seconds)

    async def _start(self) -> bool:
        for container in self._pod["spec"]["containers"]:
            try:
                env = environment(self._store, self._pod, container, self._folders)
            except KeyError as error:
                self._write("Pending", waiting(self._pod, "CreateContainerConfigError", str(error.args[0])))
                await asyncio.wait([self._grace])
                return False
            services = self._machine.services
            env = {name: services.get(value, self._resolved(value)) for name, value in env.items()}
            env |= self._identity()
            words = [*(container.get("command") or []), *(container.get("args") or [])]
            argv = self._argv(container, words)
            folder = Path(translate(container.get("workingDir") or "/", translation(container, self._folders)))
            self._commands[container["name"]] = env, folder
            self._started[container["name"]] = now()
            if not argv or shutil.which(argv[0], path=env["PATH"]) is None:
                message = f'exec: "{argv[0] if argv else ""}": executable file not found in $PATH'
                if self._pod["spec"]["restartPolicy"] == "Always":
                    self._write("Pending", waiting(self._pod, "RunContainerError", message))
                    self._unstartable = True
                    return False
                ended = terminated(START_FAILED, now(), reason="StartError", message=message)
                self._write("Failed", [container_status(container, ended)])
                return False
            log = self._machine.log(self._uid)
            self._processes[container["name"]] = await Process.start(argv, env, folder, log)
            self._probers[container["name"]] = self._prober(container)
        self._write("Running", self._container_statuses({}))
        return True

    async def _back_off(self) -> None:
        await self._pause(min(self._machine.restart_seconds * 2**self._restarts, self._machine.restart_limit))
        self._restarts += 1

    def _resolved(self, text: str) -> str:
        return resolved(self._store, self.namespace, text)

    def _argv(self, container: Object, words: list[str]) -> list[str]:
        """A command of the container on this machine: its paths, its programs, its own address for "any"."""
        paths = translation(container, self._folders)
        words = [self._address if word in EVERYWHERE else translate(word, paths) for word in words]
        return self._machine.programs.argv(words, container["image"], self._address)

    def _identity(self) -> dict[str, str]:
        """Where the pod finds the credentials of its service account, unless it is not to have any."""
        spec, write = self._pod["spec"], self._machine.credentials
        account = self._store.find(ACCOUNT, self.namespace, spec["serviceAccountName"]) or {}
        if write is None or not spec.get(
            "automountServiceAccountToken", account.get("automountServiceAccountToken", True)
        ):
            return {}
        path = self._machine.folder / "pods" / self._uid / ".kubeconfig"
        path.parent.mkdir(parents=True, exist_ok=True)
        write(self.namespace, spec["serviceAccountName"], path)
        return {"KUBECONFIG": str(path)}

    def _prober(self, container: Object) -> Prober:
        async def run(words: list[str]) -> int:
            env, folder = self._commands[container["name"]]
            argv = self._argv(container, words)
            process = await Process.start(argv, env, folder, self._machine.log(f"{self._uid}.probe"))
            try:
                return await process.wait()
            finally:
                await process.kill()

        return Prober(container, self._address, run, self._machine.pace)

    async def _live(self) -> bool:
        """Wait until every container has ended; end them when the pod is deleted, fails or runs out of its time.

        True when they are to be started again.
        """
        ends = {name: asyncio.ensure_future(process.wait()) for name, process in self._processes.items()}
        helpers = [asyncio.ensure_future(self._check()), asyncio.ensure_future(self._deadline())]
        for name, prober in self._probers.items():
            changed = functools.partial(self._ready_changed, ends)
            helpers.append(asyncio.ensure_future(prober.watch(changed, self._processes[name].kill)))
        try:
            ended: asyncio.Future[Any] = _all(ends.values())
            stopped: asyncio.Future[Any] = self._grace
            await asyncio.wait([stopped, ended], return_when=asyncio.FIRST_COMPLETED)
            if self._grace.done():
                for process in self._processes.values():
                    process.terminate()
                await asyncio.wait([ended], timeout=self._grace.result())
                await asyncio.gather(*(process.kill() for process in self._processes.values()))
            codes = {name: await end for name, end in ends.items()}
        finally:
            for helper in helpers:
                helper.cancel()
        failed = any(codes.values()) or self._verdict is not None
        policy = self._pod["spec"]["restartPolicy"]
        if not self._grace.done() and (policy == "Always" or (policy == "OnFailure" and failed)):
            self._write("Running", self._backing_off(codes))
            return True
        self._write("Failed" if failed else "Succeeded", self._container_statuses(codes))
        return False

    def _ready_changed(self, ends: Mapping[str, asyncio.Future[int]]) -> None:
        if not any(end.done() for end in ends.values()) and not self._grace.done():
            self._write("Running", self._container_statuses({}))

    def _backing_off(self, codes: dict[str, int]) -> list[Object]:
        """Containers that ended and wait to be started again."""
        message = f"back-off restarting failed container in pod {self.name}"
        state: Object = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
        ended = {each["name"]: each["state"] for each in self._container_statuses(codes)}
        self._oom.clear()
        return [
            container_status(each, state, restarts=self._restarts + 1, last=ended[each["name"]])
            for each in self._pod["spec"]["containers"]
        ]

    async def _check(self) -> None:
        """What the kernel and the eviction manager do: no more memory and disk than the limits say."""
        while True:
            await asyncio.sleep(self._machine.check_seconds)
            for container in self._pod["spec"]["containers"]:
                limits = (container.get("resources") or {}).get("limits") or {}
                process = self._processes[container["name"]]
                if "memory" in limits and await asyncio.to_thread(process.memory) > quantity(limits["memory"]):
                    self._oom.add(container["name"])
                    await process.kill()
            sizes = await asyncio.to_thread(self._volumes.usage, self._folders)
            for volume in self._pod["spec"].get("volumes") or []:
                limit = (volume.get("emptyDir") or {}).get("sizeLimit")
                if limit and sizes.get(volume["name"], 0) > quantity(limit):
                    self.end_as("Evicted", f'Usage of EmptyDir volume "{volume["name"]}" exceeds the limit "{limit}". ')

    async def _deadline(self) -> None:
        seconds = self._pod["spec"].get("activeDeadlineSeconds")
        if seconds is not None:
            await asyncio.sleep(seconds)
            self.end_as("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")

    def _container_statuses(self, codes: dict[str, int]) -> list[Object]:
        found = []
        for container in self._pod["spec"]["containers"]:
            name = container["name"]
            if name not in codes:
                state: Object = {"running": {"startedAt": self._started[name]}}
                found.append(container_status(container, state, restarts=self._restarts, prober=self._probers[name]))
                continue
            if name in self._oom:
                state = terminated(OOM_CODE, self._started[name], reason="OOMKilled")
            else:
                fallback = container.get("terminationMessagePolicy") == "FallbackToLogsOnError" and codes[name] != 0
                words = self._processes[name].last_words() if fallback else ""
                state = terminated(codes[name], self._started[name], message=words)
            found.append(container_status(container, state, restarts=self._restarts))
        return found

    def _write(self, phase: str, containers: list[Object]) -> None:
        pod = self._store.find(POD, self.namespace, self.name)
        if pod is None or pod["metadata"]["uid"] != self._uid:
            return
        status = pod["status"] | {"phase": phase, "containerStatuses": containers}
        status.setdefault("startTime", now())
        if self._verdict is not None and phase == "Failed":
            status |= {"reason": self._verdict[0], "message": self._verdict[1]}
        status |= {"podIP": self._address, "podIPs": [{"ip": self._address}], "hostIP": "127.0.0.1"}
        ready = "True" if phase == "Running" and all(each["ready"] for each in containers) else "False"
        status = with_condition(status, condition("Ready", ready))
        self._store.update(POD, pod | {"status": status})

    def _end(self) -> None:
        """The last act of a kubelet: a deleted pod's object goes when its processes are gone."""
        pod = self._store.find(POD, self.namespace, self.name)
        if pod is not None and pod["metadata"]["uid"] == self._uid and pod["metadata"].get("deletionTimestamp"):
            self._store.remove(POD, self.namespace, self.name)


def _all(ends: Iterable[asyncio.Future[int]]) -> "asyncio.Future[Any]":
    waiting_for: list[Awaitable[int]] = [asyncio.shield(end) for end in ends]
    return asyncio.ensure_future(asyncio.gather(*waiting_for))
