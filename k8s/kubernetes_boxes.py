"""Boxes made of pods. Each box is a Secret with its token, a volume claim for its home, and a pod that mounts both.

Nothing is remembered here: the cluster is asked, names are derived, and every step is safe to run twice or by two
workers at once. An outage raises `BoxesUnavailable`; it never turns into a statement about a box.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import structlog

from k8s.boxes import BoxesUnavailable, BoxSpec, BoxState, BoxStatus, Known, Reconciled
from k8s.cluster import Cluster, ClusterError, ClusterUnreachable
from k8s.home_claim import with_claim
from k8s.identity import PREFIX, SPARE, home_name, instance_labels, is_ours, secret_name, selector
from k8s.options import PodOptions
from k8s.pod import box_pod, has_agent_container, home_claim, is_outdated, secret_token, token_secret
from k8s.podstate import is_over, pod_status, waits_for_volume
from k8s.reconcile import HOME_SECONDS, IDLE_SECONDS, Deletion, plan, still_due
from k8s.refusals import is_full, refusal, why_no_boxes
from k8s.release import owners
from k8s.watch import Watch

Object = dict[str, Any]

log = structlog.get_logger()

# How long one `ensure` waits for a pod or volume of the same name to be gone; after that the caller asks again.
REPLACE_SECONDS = 45.0
REPLACE_POLL_SECONDS = 0.25
# A node that could not have an image asks again after up to five minutes; for a fresh pod it asks at once.
IMAGE_SECONDS = 30.0
# How long after its deadline a deleted pod may stay before its object is removed by force.
OVERDUE_SECONDS = 30.0


class KubernetesBoxes:
    """The boxes of one instance of Greenloop in one namespace. Use it from one event loop."""

    def __init__(self, cluster: Cluster, instance: str, options: PodOptions, owner: str = "", **watch: Any) -> None:
        """`owner` names the ConfigMap of the release with which boxes go (`k8s.release`)."""
        instance_labels(instance)
        self._owner = owner
        self._cluster = cluster
        self._instance = instance
        self._options = options
        self._selector = selector(instance)
        self._watch = Watch(cluster, "Pod", self._selector, **watch)
        self._watching = asyncio.create_task(self._watch.run())

    @classmethod
    async def connect(
        cls, namespace: str, instance: str, options: PodOptions, *, owner: str = "", kubeconfig: Path | None = None
    ) -> Self:
        """Connect to the cluster that `kubeconfig`, the pod's service account or the usual kubeconfig names."""
        return cls(await Cluster.connect(namespace, kubeconfig=kubeconfig), instance, options, owner)

    async def close(self) -> None:
        self._watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._watching
        await self._cluster.close()

    async def ensure(self, spec: BoxSpec) -> BoxStatus:
        """Make the box, or adopt the one that is there. A pod that ended is replaced; its home stays.

        What the cluster refuses for good (Pod Security, an invalid value) comes back as a permanent FAILED, a full
        quota as FULL. A changed token goes into the Secret; the cluster carries it into a running pod.
        """
        with _unavailable():
            try:
                owned = await owners(self._cluster, self._owner)
                await self._own(_owned(token_secret(self._instance, spec), owned), self._renew_token)
                claim = home_claim(self._instance, spec, self._options)
                if claim is not None:
                    await self._own(_owned(claim, [] if self._options.home.keep else owned), self._name_owner)
                elif self._options.home.ephemeral:
                    # one that was kept until now stands in the way of the pod's own, which has the same name
                    await self._delete("PersistentVolumeClaim", home_name(spec.name))
                return await self._ensure_pod(spec, owned)
            except ClusterError as error:
                refused = refusal(spec, error)
                if refused is None:
                    raise
                log.warning("box.refused", box=spec.name, status=error.status, error=error.message)
                return refused

    async def status(self, name: str) -> BoxStatus:
        """From the watch where it is current and all is well; whatever looks bad is confirmed by a fresh GET."""
        if self._watch.synced:
            pod = self._watch.objects.get(name)
            seen = pod_status(name, pod)
            if seen.usable and not waits_for_volume(pod):
                return seen
        return await self.fresh(name)

    async def fresh(self, name: str) -> BoxStatus:
        """The box as the API server has it at this moment."""
        with _unavailable():
            return await self._told(name, await self._get("Pod", name))

    async def _told(self, name: str, pod: Object | None) -> BoxStatus:
        """What the pod says, and where it waits for a volume, what its claim says."""
        status = pod_status(name, pod)
        if waits_for_volume(pod):
            return with_claim(status, await self._get("PersistentVolumeClaim", home_name(name)), time.time())
        return status

    async def troubles(self) -> AsyncGenerator[BoxStatus, None]:
        """Yield each box that is not usable, or stops being so, as the watch sees it: once for each such state."""
        told: dict[str, BoxState] = {}
        async with contextlib.aclosing(self._watch.changes()) as changes:
            async for name, pod in changes:
                status = pod_status(name, pod)
                if status.usable:
                    told.pop(name, None)
                elif told.get(name) is not status.state:
                    told[name] = status.state
                    yield status
                if pod is None:
                    told.pop(name, None)

    async def stop(self, name: str) -> None:
        with _unavailable():
            await self._delete("Pod", name)
            await self._delete("Secret", secret_name(name))

    async def delete_home(self, name: str) -> None:
        await self.stop(name)
        with _unavailable():
            await self._delete("PersistentVolumeClaim", home_name(name))

    async def list(self) -> list[BoxStatus]:
        """Every box that has a pod, and as ABSENT every box of which only the home is left."""
        with _unavailable():
            pods, _ = await self._cluster.list("Pod", self._selector)
            homes, _ = await self._cluster.list("PersistentVolumeClaim", self._selector)
        found = {pod["metadata"]["name"]: pod_status(pod["metadata"]["name"], pod) for pod in pods}
        waiting = {pod["metadata"]["name"] for pod in pods if waits_for_volume(pod)}
        for home in homes:
            name = home["metadata"]["name"].removesuffix("-home")
            found.setdefault(name, pod_status(name, None))
            if name in waiting:
                found[name] = with_claim(found[name], home, time.time())
        return [found[name] for name in sorted(found)]

    async def reconcile(
        self,
        known: Mapping[str, Known],
        *,
        confirm: Callable[[str], Awaitable[bool]],
        now: float,
        idle_seconds: float = IDLE_SECONDS,
        home_seconds: float = HOME_SECONDS,
    ) -> Reconciled:
        """Compare the cluster with `known`, and delete what nobody owns: pods, homes and secrets, each by itself.

        Each object is fetched again right before it is deleted, and deleted only as that very object.
        """
        with _unavailable():
            found = [
                item
                for kind in ("Pod", "PersistentVolumeClaim", "Secret")
                for item in (await self._cluster.list(kind, self._selector))[0]
            ]
            due = plan(found, known, now=now, idle_seconds=idle_seconds, home_seconds=home_seconds)
            deleted = [
                deletion.box
                for deletion in due.deletions
                if await confirm(deletion.box) and await self._carry_out(deletion)
            ]
        return Reconciled(tuple(dict.fromkeys(deleted)), due.missing)

    async def _carry_out(self, deletion: Deletion) -> bool:
        item = await self._get(deletion.kind, deletion.name)
        if item is None or not is_ours(item, self._instance) or not still_due(deletion, item):
            return False
        version = item["metadata"]["resourceVersion"]
        try:
            await self._cluster.delete(deletion.kind, deletion.name, uid=deletion.uid, version=version)
        except ClusterError as error:
            if error.status not in (404, 409):
                raise
            return False
        log.info("box.orphan_deleted", kind=deletion.kind, name=deletion.name, why=deletion.why)
        return True

    async def _ensure_pod(self, spec: BoxSpec, owned: Sequence[Object]) -> BoxStatus:
        wanted = _owned(box_pod(self._instance, spec, self._options), owned)
        deadline = time.monotonic() + REPLACE_SECONDS
        while True:
            try:
                made = await self._cluster.create(wanted)
                log.info("box.made", box=spec.name)
                return pod_status(spec.name, made)
            except ClusterError as error:
                pod = await self._there(wanted, error)
            if pod is None:
                continue
            self._check_ours(pod)
            status = pod_status(spec.name, pod)
            former = spec.idle and not has_agent_container(pod)
            stale = is_outdated(pod, wanted) or (spec.idle and _tries_in_vain(pod, status))
            if not is_over(pod) and not former and not (stale and not status.usable):
                await self._name_owner(pod, wanted)
                return await self._told(spec.name, pod)
            with _gone_or_changed():
                await self._cluster.delete("Pod", spec.name, uid=pod["metadata"]["uid"], grace=_overdue(pod))
            if time.monotonic() > deadline:
                return status
            await asyncio.sleep(REPLACE_POLL_SECONDS)

    async def _own(self, wanted: Object, mend: Any) -> None:
        """Create the object, or check that the one of this name is ours and let `mend` bring it up to date."""
        deadline = time.monotonic() + REPLACE_SECONDS
        kind, name = wanted["kind"], wanted["metadata"]["name"]
        while True:
            try:
                await self._cluster.create(wanted)
                return
            except ClusterError as error:
                found = await self._there(wanted, error)
            if found is not None:
                self._check_ours(found)
                if not found["metadata"].get("deletionTimestamp"):
                    await mend(found, wanted)
                    return
                if time.monotonic() > deadline:
                    raise ClusterUnreachable(f"the old {kind} {name} is still being deleted")
                await asyncio.sleep(REPLACE_POLL_SECONDS)

    async def _renew_token(self, found: Object, wanted: Object) -> None:
        if secret_token(found) != secret_token(wanted) and not _claimed(found, wanted):
            await self._cluster.patch("Secret", wanted["metadata"]["name"], {"data": wanted["data"]})
        await self._name_owner(found, wanted)

    def _check_ours(self, item: Object) -> None:
        if not is_ours(item, self._instance):
            raise ClusterError(409, "NotOurs", f"{item['metadata']['name']} exists and is not ours")

    async def _name_owner(self, found: Object, wanted: Object) -> None:
        """Write on what is there whose it is now: a spare has become somebody's, people change their login."""
        if _claimed(found, wanted):
            return
        has, labels = found["metadata"].get("labels") or {}, wanted["metadata"]["labels"]
        stale = dict.fromkeys(key for key in has if key.startswith(PREFIX) and key not in labels)
        if stale or has | labels != has:
            with _gone_or_changed():
                body = {"metadata": {"labels": {**stale, **labels}}}
                await self._cluster.patch(found["kind"], found["metadata"]["name"], body)

    async def _there(self, wanted: Object, refused: ClusterError) -> Object | None:
        """The object that stands in the way of `wanted`; None if it went meanwhile. Raises `refused` for any other why.

        Quotas are looked at before names: with a full one, what is there already is refused as if it were new.
        """
        full = is_full(refused)
        if refused.reason != "AlreadyExists" and not full:
            raise refused
        found = await self._get(wanted["kind"], wanted["metadata"]["name"])
        if found is None and full:
            raise refused
        return found

    async def _get(self, kind: str, name: str) -> Object | None:
        return await self._cluster.get(kind, name)

    async def _delete(self, kind: str, name: str) -> None:
        item = await self._get(kind, name)
        if item is None or not is_ours(item, self._instance):
            return
        with _gone_or_changed():
            await self._cluster.delete(kind, name, uid=item["metadata"]["uid"])


def _owned(item: Object, owners: Sequence[Object]) -> Object:
    return {**item, "metadata": {**item["metadata"], "ownerReferences": list(owners)}} if owners else item


def _claimed(found: Object, wanted: Object) -> bool:
    """Whether somebody has taken the spare that a slower worker still wants to keep up: what they wrote stays."""
    has, labels = found["metadata"].get("labels") or {}, wanted["metadata"]["labels"]
    return SPARE in labels and SPARE not in has


def _overdue(pod: Object) -> int | None:
    """0, so as to remove the object by force, when its node has not ended the pod long after it had to; else None.

    That is a node that is gone. Its runner, should it still live, has lost the turn and is told so by the service.
    """
    due = pod["metadata"].get("deletionTimestamp")
    late = bool(due) and time.time() - datetime.fromisoformat(due).timestamp() > OVERDUE_SECONDS
    return 0 if late else None


def _tries_in_vain(pod: Object, status: BoxStatus) -> bool:
    """Whether the pod has been without its image for a while: somebody may have mended that by now."""
    made = datetime.fromisoformat(pod["metadata"]["creationTimestamp"]).timestamp()
    return status.state is BoxState.IMAGE_ERROR and time.time() - made > IMAGE_SECONDS


@contextlib.contextmanager
def _unavailable() -> Iterator[None]:
    try:
        yield
    except ClusterUnreachable as error:
        raise BoxesUnavailable(str(error), why_no_boxes(error)) from error
    except ClusterError as error:
        said = f"the cluster refuses us ({error.status} {error.reason}): {error.message}"
        raise BoxesUnavailable(said, why_no_boxes(error)) from error


@contextlib.contextmanager
def _gone_or_changed() -> Iterator[None]:
    """For deletions and relabellings: an object that is gone, or another by now, needs none."""
    try:
        yield
    except ClusterError as error:
        if error.status not in (404, 409):
            raise
