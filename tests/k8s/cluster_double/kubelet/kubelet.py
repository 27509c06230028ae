"""Takes each pod from Pending to its end: schedules it, and hands it to a `PodLife` on the one machine there is."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.k8s.cluster_double.kubelet.claims import claims_of
from tests.k8s.cluster_double.kubelet.podlife import Machine, PodLife
from tests.k8s.cluster_double.kubelet.podstatus import condition, with_condition
from tests.k8s.cluster_double.kubelet.scheduler import node, place
from tests.k8s.cluster_double.objects.errors import Refused
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.objects.store import Change, Store

Object = dict[str, Any]

NODE = BY_KIND["Node"]
POD = BY_KIND["Pod"]
CLAIM = BY_KIND["PersistentVolumeClaim"]
SECRET = BY_KIND["Secret"]
PROTECTION = "kubernetes.io/pvc-protection"


class Kubelet:
    """Runs the pods of a store. It works on the store itself, so pods go on while the API does not answer."""

    def __init__(self, store: Store, machine: Machine) -> None:
        self.store = store
        self.machine = machine
        self._lives: dict[str, PodLife] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group = asyncio.TaskGroup()
        self._lost: set[str] = set()
        store.create(NODE, node("node-1"))

    async def run(self) -> None:
        """Follow the store until cancelled; then end every pod. Raises ExceptionGroup where the life of one failed."""
        async with asyncio.TaskGroup() as self._group:
            async for change in self.store.changes(self.store.version):
                self._see(change)

    def logs(self, uid: str, container: str) -> bytes:
        path = self.machine.log(uid, container)
        return path.read_bytes() if path.exists() else b""

    def evict(self, namespace: str, name: str, message: str) -> None:
        """What a node under pressure does: the pod fails with the reason Evicted."""
        for life in self.living(namespace, name):
            life.end_as("Evicted", message)

    async def lose_node(self, name: str, *, seconds: float = 0) -> None:
        """The machine vanishes: its processes end unseen; after `seconds` the cluster gives its pods up."""
        self._lost.add(name)
        found = self.store.find(NODE, "", name)
        if found is not None:
            self.store.update(NODE, found | {"spec": {**found["spec"], "unschedulable": True}})
        pods = [pod for pod in self.store.list(POD) if pod["spec"].get("nodeName") == name]
        for pod in pods:
            task = self._tasks.pop(pod["metadata"]["uid"], None)
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        await asyncio.sleep(seconds)
        for pod in pods:
            self._give_up(pod)

    def add_node(self, name: str, **room: Any) -> None:
        self.store.create(NODE, node(name, **room))

    def provide(self) -> None:
        """Whatever a claim asks for is there from now on."""
        self.machine.classes = None
        for claim in self.store.list(CLAIM):
            self._see_claim(claim)

    def _give_up(self, pod: Object) -> None:
        found = self.store.find(POD, pod["metadata"]["namespace"], pod["metadata"]["name"])
        if found is None or found["metadata"]["uid"] != pod["metadata"]["uid"]:
            return
        why = condition(
            "DisruptionTarget", "True", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute"
        )
        self.store.update(POD, found | {"status": with_condition(found["status"], why)})
        self.store.mark_deleted(POD, found, found["spec"]["terminationGracePeriodSeconds"])

    def _see(self, change: Change) -> None:
        if change.resource == POD:
            self._see_pod(change)
        elif change.resource == CLAIM and change.after is not None:
            self._see_claim(change.after)
        elif change.resource == SECRET and change.after is not None:
            for life in self._lives.values():
                life.refresh()
        elif change.resource == NODE:
            self._try_all()

    def _see_pod(self, change: Change) -> None:
        uid = change.item["metadata"]["uid"]
        life = self._lives.get(uid)
        if change.after is None:
            if life is not None:
                life.gone()
            self._unprotect(change.item["metadata"]["namespace"])
        elif life is not None and change.after["metadata"].get("deletionTimestamp"):
            life.stop(change.after["metadata"]["deletionGracePeriodSeconds"])
        elif life is None and change.before is None:
            self._try(change.after)
        if change.after is None or change.after["status"].get("phase") in ("Succeeded", "Failed"):
            self._try_all()

    def _try_all(self) -> None:
        for pod in self.store.list(POD):
            if not pod["spec"].get("nodeName"):
                self._try(pod)

    def _try(self, pod: Object) -> None:
        """Bind the pod to a node and start its life; or say why no node takes it."""
        about = pod["metadata"]
        current = self.store.find(POD, about["namespace"], about["name"])
        # what it was when it was made may be long past: others change and delete pods, too
        if current is None or current["metadata"]["uid"] != about["uid"]:
            return
        pod = current
        name, why = place(self.store, pod, self.machine.classes)
        if name is None and not why:
            return
        if name is None:
            missing = condition("PodScheduled", "False", "Unschedulable", why)
            old = [item for item in pod["status"].get("conditions") or [] if item["type"] == "PodScheduled"]
            if not old or old[0].get("message") != why:
                self.store.update(POD, pod | {"status": with_condition(pod["status"], missing)})
            return
        status = with_condition(pod["status"], condition("PodScheduled", "True"))
        bound = self.store.update(POD, pod | {"spec": {**pod["spec"], "nodeName": name}, "status": status})
        uid = bound["metadata"]["uid"]
        life = PodLife(self.store, self.machine, bound)
        self._lives[uid] = life
        task = self._group.create_task(life.run())
        self._tasks[uid] = task
        task.add_done_callback(lambda _: self._forget(uid))

    def _forget(self, uid: str) -> None:
        self._lives.pop(uid, None)
        self._tasks.pop(uid, None)

    def living(self, namespace: str, name: str) -> Iterator[PodLife]:
        for life in list(self._lives.values()):
            if (life.namespace, life.name) == (namespace, name):
                yield life

    def _see_claim(self, claim: Object) -> None:
        if claim["status"].get("phase") != "Bound" and self.machine.classes is None:
            metadata = claim["metadata"]
            room = claim["spec"]["resources"]["requests"]
            status = {"phase": "Bound", "accessModes": claim["spec"]["accessModes"], "capacity": room}
            self.store.change(CLAIM, metadata["namespace"], metadata["name"], status=status)
            self._try_all()
        elif claim["metadata"].get("deletionTimestamp"):
            self._unprotect(claim["metadata"]["namespace"])

    def _unprotect(self, namespace: str) -> None:
        """Let claims go that are deleted and that no pod uses any more."""
        used = {
            name
            for pod in self.store.list(POD, namespace)
            if pod["status"].get("phase") not in ("Succeeded", "Failed")
            for name in claims_of(pod)
        }
        for claim in self.store.list(CLAIM, namespace):
            metadata = claim["metadata"]
            if metadata.get("deletionTimestamp") and metadata["name"] not in used:
                metadata["finalizers"] = [name for name in metadata.get("finalizers") or [] if name != PROTECTION]
                with contextlib.suppress(Refused):
                    self.store.update(CLAIM, claim)
                self.machine.drop_claim(metadata["uid"])


def make_kubelet(store: Store, folder: Path, **options: Any) -> Kubelet:
    """A kubelet that keeps volumes and logs under `folder`."""
    return Kubelet(store, Machine(folder, **options))
