"""Which node a pod goes to, and why none. Pure, but for reading the store."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.k8s.cluster_double.kubelet.claims import claims_of, is_anothers
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.objects.store import Store
from tests.k8s.cluster_double.validation.quantities import quantity

Object = dict[str, Any]

NODE = BY_KIND["Node"]
POD = BY_KIND["Pod"]


def node(name: str, *, labels: dict[str, str] | None = None, cpu: str = "64", memory: str = "256Gi") -> Object:
    """A node object with room for many boxes."""
    room = {"cpu": cpu, "memory": memory, "ephemeral-storage": "1Ti", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {},
        "status": {"allocatable": room, "capacity": room, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def place(store: Store, pod: Object, classes: Mapping[str, str] | None) -> tuple[str | None, str]:
    """The name of a node that takes the pod; or None and the scheduler's sentence why not.

    `classes`: the storage classes that there are, with how they bind. While a volume of one that waits for its first
    consumer is made, a scheduler says nothing.
    """
    claims = _claims(store, pod)
    nodes = store.list(NODE)
    missing = next((name for name, claim in claims.items() if claim is None), None)
    if missing is not None:
        return None, f'0/{len(nodes)} nodes are available: persistentvolumeclaim "{missing}" not found.'
    for name, claim in claims.items():
        if claim is not None and is_anothers(pod, name, claim):
            return None, f'0/{len(nodes)} nodes are available: PVC "{name}" was not created for pod (pod is not owner).'
        if claim is not None and claim["status"].get("phase") != "Bound" and classes is not None:
            mode = classes.get(claim["spec"].get("storageClassName") or "")
            words = f"0/{len(nodes)} nodes are available: pod has unbound immediate PersistentVolumeClaims."
            return None, "" if mode == "WaitForFirstConsumer" else words
    reasons: dict[str, int] = {}
    for candidate in nodes:
        reason = _refuses(store, candidate, pod)
        if reason is None:
            return str(candidate["metadata"]["name"]), ""
        reasons[reason] = reasons.get(reason, 0) + 1
    words = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return None, f"0/{len(nodes)} nodes are available: {words or 'no nodes'}."


def _claims(store: Store, pod: Object) -> dict[str, Object | None]:
    claim = BY_KIND["PersistentVolumeClaim"]
    return {name: store.find(claim, pod["metadata"]["namespace"], name) for name in claims_of(pod)}


def _refuses(store: Store, candidate: Object, pod: Object) -> str | None:
    labels = candidate["metadata"].get("labels") or {}
    if candidate["spec"].get("unschedulable"):
        return "node(s) were unschedulable"
    if any(labels.get(key) != value for key, value in (pod["spec"].get("nodeSelector") or {}).items()):
        return "node(s) didn't match Pod's node affinity/selector"
    name = candidate["metadata"]["name"]
    used = [other for other in store.list(POD) if other["spec"].get("nodeName") == name and _lives(other)]
    for key, room in candidate["status"]["allocatable"].items():
        if key == "pods":
            if len(used) >= int(room):
                return "Too many pods"
            continue
        if sum((_request(other, key) for other in used), _request(pod, key)) > quantity(room):
            return f"Insufficient {key}"
    return None


def _lives(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")


def _request(pod: Object, key: str) -> Decimal:
    total = Decimal(0)
    for container in pod["spec"]["containers"]:
        total += quantity(((container.get("resources") or {}).get("requests") or {}).get(key, "0"))
    return total
