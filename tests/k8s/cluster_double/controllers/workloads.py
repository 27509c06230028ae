"""The controllers of Deployments, ReplicaSets and StatefulSets."""

import contextlib
import copy
import hashlib
import json
import secrets
from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.api import Api
from tests.k8s.cluster_double.kubelet.podstatus import condition
from tests.k8s.cluster_double.network import ready
from tests.k8s.cluster_double.objects.errors import Refused
from tests.k8s.cluster_double.objects.resources import BY_KIND, Resource

Object = dict[str, Any]

DEPLOYMENT, REPLICA_SET, STATEFUL_SET = (BY_KIND[kind] for kind in ("Deployment", "ReplicaSet", "StatefulSet"))
POD, CLAIM = BY_KIND["Pod"], BY_KIND["PersistentVolumeClaim"]
HASH = "pod-template-hash"
REVISION = "controller-revision-hash"
KINDS = (DEPLOYMENT, REPLICA_SET, STATEFUL_SET, POD)


class Workloads:
    """Follows the store's changes; what it makes goes through the API, so that admission holds for it too.

    A rolling update surges at once: all new pods are made, and the old ones go when the new ones are ready.
    """

    def __init__(self, api: Api) -> None:
        self._api = api

    async def run(self) -> None:
        """Follow the store until cancelled."""
        async for change in self._api.store.changes(self._api.store.version):
            if change.resource not in KINDS:
                continue
            metadata = change.item["metadata"]
            self._reconcile(metadata["namespace"])

    def _reconcile(self, namespace: str) -> None:
        """Bring every workload of the namespace one step on. A refusal, such as a full quota, waits for a change."""
        steps = ((DEPLOYMENT, self._deployment), (REPLICA_SET, self._replica_set), (STATEFUL_SET, self._stateful_set))
        for resource, step in steps:
            for item in self._api.store.list(resource, namespace):
                with contextlib.suppress(Refused):
                    step(item)

    def _deployment(self, item: Object) -> None:
        spec, name = item["spec"], item["metadata"]["name"]
        wanted, suffix = spec.get("replicas", 1), _hash(spec["template"])
        sets = list(self._owned(REPLICA_SET, item))
        mine = next((each for each in sets if each["metadata"]["labels"].get(HASH) == suffix), None)
        old = [each for each in sets if each is not mine]
        running = sum((each.get("status") or {}).get("replicas", 0) for each in old)
        recreate = (spec.get("strategy") or {}).get("type") == "Recreate"
        if mine is None and not (recreate and running):
            template = copy.deepcopy(spec["template"])
            labels = template.setdefault("metadata", {}).setdefault("labels", {})
            labels[HASH] = suffix
            body = {"replicas": wanted, "selector": {"matchLabels": dict(labels)}, "template": template}
            self._make(REPLICA_SET, item, f"{name}-{suffix}", labels, body)
        elif mine is not None and mine["spec"]["replicas"] != wanted:
            self._spec(REPLICA_SET, mine, replicas=wanted)
        up = (mine or {}).get("status") or {}
        if recreate or up.get("readyReplicas", 0) >= wanted:
            for each in old:
                if each["spec"]["replicas"]:
                    self._spec(REPLICA_SET, each, replicas=0)
        count = up.get("readyReplicas", 0)
        available = condition("Available", "True" if count >= wanted else "False", "MinimumReplicasAvailable")
        self._status(
            DEPLOYMENT,
            item,
            replicas=up.get("replicas", 0) + running,
            updatedReplicas=up.get("replicas", 0),
            readyReplicas=count,
            availableReplicas=count,
            conditions=[available],
        )

    def _replica_set(self, item: Object) -> None:
        pods = [pod for pod in self._owned(POD, item) if _lives(pod)]
        wanted, name = item["spec"].get("replicas", 1), item["metadata"]["name"]
        for pod in pods[wanted:]:
            self._api.delete(POD, pod["metadata"]["namespace"], pod["metadata"]["name"], {})
        self._status(REPLICA_SET, item, replicas=len(pods), readyReplicas=sum(map(ready, pods)))
        template = item["spec"]["template"]
        for _ in range(wanted - len(pods)):
            labels = template["metadata"]["labels"]
            self._make(POD, item, f"{name}-{secrets.token_hex(3)[:5]}", labels, template["spec"], template)

    def _stateful_set(self, item: Object) -> None:
        spec, name, namespace = item["spec"], item["metadata"]["name"], item["metadata"]["namespace"]
        template, revision = spec["template"], _hash(spec["template"])
        there = {pod["metadata"]["name"]: pod for pod in self._owned(POD, item)}
        names = [f"{name}-{number}" for number in range(spec.get("replicas", 1))]
        for key, pod in there.items():
            if key not in names or pod["metadata"]["labels"].get(REVISION) != revision or not _lives(pod):
                self._api.delete(POD, namespace, key, {})
        living = [pod for pod in there.values() if _lives(pod)]
        self._status(STATEFUL_SET, item, replicas=len(living), readyReplicas=sum(map(ready, living)))
        for key in names:
            if key not in there:
                body = copy.deepcopy(template["spec"])
                for claim in spec.get("volumeClaimTemplates") or []:
                    self._claim(namespace, f"{claim['metadata']['name']}-{key}", claim)
                    source = {"claimName": f"{claim['metadata']['name']}-{key}"}
                    volume = {"name": claim["metadata"]["name"], "persistentVolumeClaim": source}
                    body.setdefault("volumes", []).append(volume)
                self._make(POD, item, key, {**template["metadata"]["labels"], REVISION: revision}, body, template)
            if not ready(there.get(key, {"metadata": {}})):
                return  # one after the other

    def _claim(self, namespace: str, name: str, claim: Object) -> None:
        if self._api.store.find(CLAIM, namespace, name) is None:
            body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}}
            self._api.create(CLAIM, namespace, {**body, "spec": claim["spec"]}, strict=True)

    def _make(
        self, resource: Resource, owner: Object, name: str, labels: Object, spec: Object, template: Object | None = None
    ) -> None:
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True}
        reference |= {key: owner["metadata"][key] for key in ("name", "uid")}
        metadata: Object = {"name": name, "labels": labels, "ownerReferences": [reference]}
        if template is not None and template["metadata"].get("annotations"):
            metadata["annotations"] = template["metadata"]["annotations"]
        body = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": spec}
        self._api.create(resource, owner["metadata"]["namespace"], body, strict=True)

    def _owned(self, resource: Resource, owner: Object) -> Iterator[Object]:
        """What `owner` controls, oldest first."""
        metadata = owner["metadata"]
        found = [
            each
            for each in self._api.store.list(resource, metadata["namespace"])
            if any(by["uid"] == metadata["uid"] for by in each["metadata"].get("ownerReferences") or [])
        ]
        yield from sorted(found, key=lambda each: int(each["metadata"]["resourceVersion"]))

    def _spec(self, resource: Resource, item: Object, **fields: Any) -> None:
        self._api.store.update(resource, item | {"spec": {**item["spec"], **fields}})

    def _status(self, resource: Resource, item: Object, **fields: Any) -> None:
        """Write the status, if it says something new."""
        found = self._api.store.find(resource, item["metadata"]["namespace"], item["metadata"]["name"])
        if found is None:
            return
        fields["observedGeneration"] = found["metadata"].get("generation", 1)
        old = dict(found.get("status") or {})
        for each in (old, fields):
            each["conditions"] = [{**by, "lastTransitionTime": ""} for by in each.get("conditions") or []]
        if old != fields:
            self._api.store.update(resource, found | {"status": {**fields, "conditions": _stamped(fields)}})


def _stamped(fields: Object) -> list[Object]:
    return [condition(by["type"], by["status"], by.get("reason", "")) for by in fields["conditions"]]


def _lives(pod: Object) -> bool:
    return pod["status"].get("phase") not in ("Succeeded", "Failed") and not pod["metadata"].get("deletionTimestamp")


def _hash(template: Object) -> str:
    return hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:10]
