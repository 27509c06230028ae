"""What happens to an object between its validation and the store: defaults, Pod Security, limit ranges, quotas."""

from collections import defaultdict
from decimal import Decimal
from typing import Any

from tests.k8s.cluster_double.admission.podsecurity import ENFORCE, refusal
from tests.k8s.cluster_double.objects.errors import forbidden, not_found
from tests.k8s.cluster_double.objects.resources import BY_KIND, Resource
from tests.k8s.cluster_double.objects.store import Store
from tests.k8s.cluster_double.validation.quantities import quantity, shown

Object = dict[str, Any]

POD = BY_KIND["Pod"]
NAMESPACE = BY_KIND["Namespace"]
LIVING_SECONDS = 300
COUNTED = {"pods": "Pod", "persistentvolumeclaims": "PersistentVolumeClaim", "secrets": "Secret", "services": "Service"}


def admit(store: Store, resource: Resource, item: Object) -> Object:
    """`item` with defaults. Raises Refused 403 or 404 where the namespace does not allow it."""
    namespace = item["metadata"].get("namespace", "")
    if resource.namespaced:
        space = store.find(NAMESPACE, "", namespace)
        if space is None:
            raise not_found(NAMESPACE, namespace)
        if space["metadata"].get("deletionTimestamp"):
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            raise forbidden(resource, item["metadata"]["name"], why)
        if resource.kind == "Pod":
            _pod(store, item, space)
    _defaults(resource, item)
    if resource.namespaced:
        _quota(store, resource, item, namespace)
    return item


def _pod(store: Store, item: Object, space: Object) -> None:
    spec, name = item["spec"], item["metadata"]["name"]
    account = spec.setdefault("serviceAccountName", "default")
    namespace = space["metadata"]["name"]
    if store.find(BY_KIND["ServiceAccount"], namespace, account) is None:
        why = f'error looking up service account {namespace}/{account}: serviceaccount "{account}" not found'
        raise forbidden(POD, name, why)
    if spec.get("runtimeClassName"):
        raise forbidden(POD, name, f'pod rejected: RuntimeClass "{spec["runtimeClassName"]}" not found')
    if spec.get("priorityClassName", "system-").partition("-")[0] != "system":
        raise forbidden(POD, name, f"no PriorityClass with name {spec['priorityClassName']} was found")
    _limit_ranges(store, namespace, spec, name)
    level = (space["metadata"].get("labels") or {}).get(ENFORCE, "privileged")
    why = refusal(spec, level) or ""
    if why:
        raise forbidden(POD, name, why)
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        tolerations = spec.setdefault("tolerations", [])
        if not any(toleration.get("key") == key for toleration in tolerations):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": LIVING_SECONDS}
            )


def _defaults(resource: Resource, item: Object) -> None:
    if resource.kind == "Pod":
        spec = item["spec"]
        spec.setdefault("restartPolicy", "Always")
        spec.setdefault("dnsPolicy", "ClusterFirst")
        spec.setdefault("schedulerName", "default-scheduler")
        spec.setdefault("terminationGracePeriodSeconds", 30)
        for container in spec["containers"]:
            container.setdefault("imagePullPolicy", _pull_policy(container["image"]))
            container.setdefault("terminationMessagePolicy", "File")
        item["status"] = {"phase": "Pending", "qosClass": "Burstable"}
    elif resource.kind == "Namespace":
        item.setdefault("spec", {"finalizers": ["kubernetes"]})
        item["status"] = {"phase": "Active"}
        item["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = item["metadata"]["name"]
    elif resource.kind == "Secret":
        item.setdefault("type", "Opaque")
    elif resource.kind == "ResourceQuota":
        # No controller of ours counts `used`: what is used is looked up whenever something is asked for.
        item["status"] = {"hard": dict(item["spec"].get("hard") or {})}
    elif resource.kind in ("Deployment", "StatefulSet"):
        item["spec"].setdefault("replicas", 1)
        field = "strategy" if resource.kind == "Deployment" else "updateStrategy"
        item["spec"].setdefault(field, {"type": "RollingUpdate"})
    elif resource.kind == "PersistentVolumeClaim":
        item["spec"].setdefault("volumeMode", "Filesystem")
        item["metadata"].setdefault("finalizers", []).append("kubernetes.io/pvc-protection")
        item["status"] = {"phase": "Pending"}


def _pull_policy(image: str) -> str:
    tag = image.rsplit("/", 1)[-1].partition(":")[2]
    return "Always" if "@" not in image and tag in ("", "latest") else "IfNotPresent"


def _limit_ranges(store: Store, namespace: str, spec: Object, name: str) -> None:
    for limit_range in store.list(BY_KIND["LimitRange"], namespace):
        for limit in limit_range["spec"]["limits"]:
            if limit.get("type") == "Container":
                for container in spec["containers"]:
                    _limit(container.setdefault("resources", {}), limit, name)


def _limit(resources: Object, limit: Object, name: str) -> None:
    limits, requests = resources.setdefault("limits", {}), resources.setdefault("requests", {})
    for key, value in (limit.get("default") or {}).items():
        limits.setdefault(key, value)
    for key, value in (limit.get("defaultRequest") or {}).items():
        requests.setdefault(key, value)
    for key, value in (limit.get("max") or {}).items():
        if key in limits and quantity(limits[key]) > quantity(value):
            why = f"maximum {key} usage per Container is {value}, but limit is {limits[key]}"
            raise forbidden(POD, name, why)


def _quota(store: Store, resource: Resource, item: Object, namespace: str) -> None:
    for quota in store.list(BY_KIND["ResourceQuota"], namespace):
        hard = quota["spec"].get("hard") or {}
        used = usage(store, namespace)
        asked = _usage_of(resource, item)
        missing = [
            key
            for key in hard
            if resource.kind == "Pod" and key.startswith(("limits.", "requests.")) and key not in asked
        ]
        missing = [key for key in missing if key != "requests.storage"]
        name = quota["metadata"]["name"]
        if missing:
            containers = ",".join(container["name"] for container in item["spec"]["containers"])
            why = f"failed quota: {name}: must specify {'; '.join(f'{key} for: {containers}' for key in missing)}"
            raise forbidden(resource, item["metadata"]["name"], why)
        over = [key for key in hard if key in asked and used[key] + asked[key] > quantity(hard[key])]
        if over:
            over.sort()
            parts = {
                "requested": [f"{key}={shown(asked[key])}" for key in over],
                "used": [f"{key}={shown(used[key])}" for key in over],
                "limited": [f"{key}={hard[key]}" for key in over],
            }
            words = ", ".join(f"{title}: {','.join(values)}" for title, values in parts.items())
            raise forbidden(resource, item["metadata"]["name"], f"exceeded quota: {name}, {words}")


def usage(store: Store, namespace: str) -> defaultdict[str, Decimal]:
    """What a namespace uses, by the names that a ResourceQuota has for it. Pods that ended count for nothing."""
    total: defaultdict[str, Decimal] = defaultdict(Decimal)
    for kind in COUNTED.values():
        for item in store.list(BY_KIND[kind], namespace):
            if (item.get("status") or {}).get("phase") not in ("Succeeded", "Failed"):
                for key, value in _usage_of(BY_KIND[kind], item).items():
                    total[key] += value
    return total


def _usage_of(resource: Resource, item: Object) -> dict[str, Decimal]:
    found: dict[str, Decimal] = {}
    if resource.plural in COUNTED:
        found[resource.plural] = found[f"count/{resource.plural}"] = Decimal(1)
    if resource.kind == "PersistentVolumeClaim":
        found["requests.storage"] = quantity(item["spec"]["resources"]["requests"]["storage"])
    if resource.kind == "Pod":
        for container in item["spec"]["containers"]:
            for field in ("requests", "limits"):
                for key, value in ((container.get("resources") or {}).get(field) or {}).items():
                    name = f"{field}.{key}"
                    found[name] = found.get(name, Decimal(0)) + quantity(value)
    return found
