"""The life of one pod on this machine, from its binding to a node to its last status."""

import asyncio
import contextlib
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.k8s.cluster_double.kubelet.container import ContainerLife, NotConfigurable, NotStartable
from tests.k8s.cluster_double.kubelet.isolation import Isolation
from tests.k8s.cluster_double.kubelet.mounts import NotMountable, Volumes, translate, translation
from tests.k8s.cluster_double.kubelet.podstatus import condition, waiting, with_condition
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
    place of its token. The containers of one pod are kept apart as far as `isolation` can; a pod with a single one runs
    as processes of our own user, with its paths translated.
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
    isolation: Isolation = field(default_factory=Isolation.of_this_machine)
    credentials: Callable[[str, str, Path], None] | None = None

    def volumes(self, store: Store, uid: str) -> Volumes:
        return Volumes(store, self.folder / "pods" / uid, self.folder / "claims", owned=self.isolation.users)

    def log(self, uid: str, container: str) -> Path:
        path = self.folder / "logs" / f"{uid}.{container}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def pause(self, restarts: int) -> float:
        """Seconds before the nth start of a container that ends again and again."""
        return min(self.restart_seconds * 2.0 ** max(0, restarts - 1), self.restart_limit)

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
        self._grace: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._verdict: tuple[str, str] | None = None
        self._address = machine.network.pod()
        policy = pod["spec"]["restartPolicy"]
        specs = pod["spec"]["containers"]
        self._containers = [ContainerLife(each, self.name, policy, self._changed) for each in specs]
        self._apart = len(specs) > 1 and machine.isolation.works

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

    def process(self, container: str) -> Process:
        """The process of one of its containers, which runs."""
        found = next(each.process for each in self._containers if each.name == container)
        assert found is not None
        return found

    def refresh(self) -> None:
        """Bring mounted secrets up to date."""
        if self._folders:
            with contextlib.suppress(NotMountable):
                self._volumes.refresh(self._pod)

    async def run(self) -> None:
        try:
            if await self._prepare():
                await self._live()
            self._end()
        finally:
            await asyncio.gather(*(each.kill() for each in self._containers))
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

    async def _begin(self, container: Object) -> tuple[Process, Prober]:
        """Start a container. Raises NotConfigurable and NotStartable."""
        paths = {} if self._apart else translation(container, self._folders)
        try:
            env = environment(self._store, self._pod, container, paths)
        except KeyError as error:
            raise NotConfigurable(str(error.args[0])) from None
        services = self._machine.services
        env = {name: services.get(value, resolved(self._store, self.namespace, value)) for name, value in env.items()}
        env |= self._identity()
        if not self._machine.isolation.users and "GREENLOOP_AGENT_USER" in env:
            # the one user that there is
            env["GREENLOOP_AGENT_USER"] = str(os.getuid())
        folder = container.get("workingDir") or "/"
        words = [*(container.get("command") or []), *(container.get("args") or [])]
        log = self._machine.log(self._uid, container["name"])
        if self._apart:
            argv = self._machine.programs.argv(words, container["image"], self._address, init=True)
            _check(argv, env)
            mounts = self._volumes.mounts(container, self._folders)
            argv = self._machine.isolation.argv(argv, mounts, self._pod["spec"], container, folder)
            process = await Process.start(argv, env, Path("/"), log, init=False)
        else:
            argv = self._argv(words, paths, container)
            _check(argv, env)
            process = await Process.start(argv, env, Path(translate(folder, paths)), log)

        async def run(words: list[str]) -> int:
            if self._apart:
                raise NotImplementedError("this cluster has no exec probes in pods of several containers")
            probe = self._argv(words, paths, container)
            asked = await Process.start(
                probe, env, Path(translate(folder, paths)), self._machine.log(self._uid, f"{container['name']}.probe")
            )
            try:
                return await asked.wait()
            finally:
                await asked.kill()

        return process, Prober(container, self._address, run, self._machine.pace)

    def _argv(self, words: list[str], paths: dict[str, str], container: Object) -> list[str]:
        """A command of the container on this machine: its paths, its programs, its own address for "any"."""
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

    async def _live(self) -> None:
        """Wait until every container has ended for good."""
        async with asyncio.TaskGroup() as group:
            helpers = [group.create_task(each) for each in (self._check(), self._deadline())]
            await asyncio.gather(
                *(each.run(self._begin, self._grace, self._machine.pause) for each in self._containers)
            )
            for helper in helpers:
                helper.cancel()

    async def _check(self) -> None:
        """What the kernel and the eviction manager do: no more memory and disk than the limits say."""
        while True:
            await asyncio.sleep(self._machine.check_seconds)
            for container in self._containers:
                limits = (container.spec.get("resources") or {}).get("limits") or {}
                process = container.process
                if process is None or "memory" not in limits:
                    continue
                if await asyncio.to_thread(process.memory) > quantity(limits["memory"]):
                    container.out_of_memory = True
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

    def _changed(self) -> None:
        """The phase follows from all containers: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/"""
        if all(each.over for each in self._containers):
            failed = any(each.failed for each in self._containers) or self._verdict is not None
            phase = "Failed" if failed else "Succeeded"
        elif all(each.has_begun for each in self._containers):
            phase = "Running"
        else:
            phase = "Pending"
        self._write(phase, [each.status() for each in self._containers])

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


def _check(argv: list[str], env: dict[str, str]) -> None:
    if not argv or shutil.which(argv[0], path=env["PATH"]) is None:
        raise NotStartable(f'exec: "{argv[0] if argv else ""}": executable file not found in $PATH')
