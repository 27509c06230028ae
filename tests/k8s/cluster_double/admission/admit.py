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
CLASSES = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}
POD_DEFAULTS = {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler"}
PREEMPTS = "PreemptLowerPriority"
COUNTED = {"pods": "Pod", "persistentvolumeclaims": "PersistentVolumeClaim", "secrets": "Secret", "services": "Service"}


def prepare(store: Store, resource: Resource, item: Object) -> None:
    """What is looked up and filled in before the object is validated. Raises Refused 403 or 404."""
    namespace = item["metadata"].get("namespace", "")
    if not resource.namespaced:
        return
    space = store.find(NAMESPACE, "", namespace)
    if space is None:
        raise not_found(NAMESPACE, namespace)
    if space["metadata"].get("deletionTimestamp"):
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        raise forbidden(resource, item["metadata"]["name"], why)
    if resource.kind == "Pod" and isinstance(item.get("spec"), dict):
        _prepare_pod(store, item["spec"], item["metadata"]["name"], namespace)


def _prepare_pod(store: Store, spec: Object, name: str, namespace: str) -> None:
    for limit in _container_limits(store, namespace):
        for container in spec.get("containers") or []:
            _default_amounts(container.setdefault("resources", {}), limit)
    account = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    spec["serviceAccountName"] = account
    if store.find(BY_KIND["ServiceAccount"], namespace, account) is None:
        why = f'error looking up service account {namespace}/{account}: serviceaccount "{account}" not found'
        raise forbidden(POD, name, why)
    _priority(spec, name)
    if spec.get("runtimeClassName"):
        raise forbidden(POD, name, f'pod rejected: RuntimeClass "{spec["runtimeClassName"]}" not found')
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        tolerations = spec.setdefault("tolerations", [])
        if not any(toleration.get("key") == key for toleration in tolerations):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": LIVING_SECONDS}
            )


def _priority(spec: Object, name: str) -> None:
    """The cluster has the classes that each has, and no other."""
    chosen, given = spec.get("priorityClassName") or "", spec.get("priority")
    if chosen and chosen not in CLASSES:
        raise forbidden(POD, name, f"no PriorityClass with name {chosen} was found")
    value = CLASSES.get(chosen, 0)
    told = "must not be provided in pod spec; priority admission controller computed"
    if given not in (None, value):
        why = f"the integer value of priority ({given}) {told} {value} from the given PriorityClass name"
        raise forbidden(POD, name, why)
    wanted = spec.get("preemptionPolicy") or PREEMPTS
    if wanted != PREEMPTS:
        why = f"the string value of PreemptionPolicy ({wanted}) {told} {PREEMPTS} from the given PriorityClass name"
        raise forbidden(POD, name, why)


def admit(store: Store, resource: Resource, item: Object) -> Object:
    """`item` with defaults, once it is valid. Raises Refused 403 where the namespace does not allow it."""
    namespace = item["metadata"].get("namespace", "")
    if resource.kind == "Pod":
        _pod(store, item, namespace)
    _defaults(resource, item)
    if resource.namespaced:
        _quota(store, resource, item, namespace)
    return item


def _pod(store: Store, item: Object, namespace: str) -> None:
    spec, name = item["spec"], item["metadata"]["name"]
    for limit in _container_limits(store, namespace):
        for container in spec["containers"]:
            _within(container.get("resources") or {}, limit, name)
    labels = store.get(NAMESPACE, "", namespace)["metadata"].get("labels") or {}
    if why := refusal(spec, labels.get(ENFORCE, "privileged")):
        raise forbidden(POD, name, why)
    if spec.get("overhead"):
        why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        raise forbidden(POD, name, why)


def _defaults(resource: Resource, item: Object) -> None:
    fill_in(resource, item)
    if resource.kind == "Pod":
        item["status"] = {"phase": "Pending", "qosClass": "Burstable"}
    elif resource.kind == "Namespace":
        item.setdefault("spec", {"finalizers": ["kubernetes"]})
        item["status"] = {"phase": "Active"}
        item["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = item["metadata"]["name"]
    elif resource.kind == "ResourceQuota":
        # No controller of ours counts `used`: what is used is looked up whenever something is asked for.
        item["status"] = {"hard": dict(item["spec"].get("hard") or {})}
    elif resource.kind == "PersistentVolumeClaim":
        item["metadata"].setdefault("finalizers", []).append("kubernetes.io/pvc-protection")
        item["status"] = {"phase": "Pending"}


def fill_in(resource: Resource, item: Object) -> None:
    """The defaults of the fields that are asked for, also with an update."""
    if resource.kind == "Pod":
        spec = item["spec"]
        for field, value in POD_DEFAULTS.items():
            spec[field] = spec.get(field) or value
        spec.setdefault("terminationGracePeriodSeconds", 30)
        if spec["terminationGracePeriodSeconds"] < 0:
            spec["terminationGracePeriodSeconds"] = 1
        for container in spec.get("containers") or []:
            container["imagePullPolicy"] = container.get("imagePullPolicy") or _pull_policy(container.get("image", ""))
            container["terminationMessagePolicy"] = container.get("terminationMessagePolicy") or "File"
    elif resource.kind == "Secret":
        item["type"] = item.get("type") or "Opaque"
    elif resource.kind in ("Deployment", "StatefulSet"):
        item["spec"].setdefault("replicas", 1)
        field = "strategy" if resource.kind == "Deployment" else "updateStrategy"
        item["spec"].setdefault(field, {"type": "RollingUpdate"})
    elif resource.kind == "PersistentVolumeClaim":
        spec = item.setdefault("spec", {})
        spec["volumeMode"] = spec.get("volumeMode") or "Filesystem"


def _pull_policy(image: str) -> str:
    tag = image.rsplit("/", 1)[-1].partition(":")[2]
    return "Always" if "@" not in image and tag in ("", "latest") else "IfNotPresent"


def _container_limits(store: Store, namespace: str) -> list[Object]:
    ranges = store.list(BY_KIND["LimitRange"], namespace)
    return [limit for each in ranges for limit in each["spec"]["limits"] if limit.get("type") == "Container"]


def _default_amounts(resources: Object, limit: Object) -> None:
    limits, requests = resources.setdefault("limits", {}), resources.setdefault("requests", {})
    for key, value in (limit.get("default") or {}).items():
        limits.setdefault(key, value)
    for key, value in (limit.get("defaultRequest") or {}).items():
        requests.setdefault(key, value)


def _within(resources: Object, limit: Object, name: str) -> None:
    limits = resources.get("limits") or {}
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
