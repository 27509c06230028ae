"""The spec of a pod, alone or in a template."""

from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, each_bad, not_negative, one_of, repeated, required
from tests.k8s.cluster_double.validation.containers import containers
from tests.k8s.cluster_double.validation.metadata import labels
from tests.k8s.cluster_double.validation.names import dns_label, dns_subdomain, label_key
from tests.k8s.cluster_double.validation.volumes import volume

Object = dict[str, Any]

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def pod(spec: Object, path: str = "spec") -> Iterator[str]:
    volumes: list[str] = []
    for at, each in enumerate(spec.get("volumes") or []):
        here, name = f"{path}.volumes[{at}]", each.get("name", "")
        yield from volume(here, each)
        if not name:
            yield required(f"{here}.name")
        else:
            yield from each_bad(f"{here}.name", name, dns_label(name))
        if name in volumes:
            yield repeated(f"{here}.name", name)
        volumes.append(name)
    yield from containers(f"{path}.containers", spec.get("containers") or [], volumes)
    if spec.get("initContainers"):
        yield from containers(f"{path}.initContainers", spec["initContainers"], volumes)
    yield from one_of(f"{path}.restartPolicy", spec.get("restartPolicy"), ("Always", "OnFailure", "Never"))
    policies = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
    yield from one_of(f"{path}.dnsPolicy", spec.get("dnsPolicy"), policies)
    yield from not_negative(f"{path}.terminationGracePeriodSeconds", spec.get("terminationGracePeriodSeconds"))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 2**31:
        yield bad(f"{path}.activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive")
    yield from labels(f"{path}.nodeSelector", spec.get("nodeSelector") or {})
    if account := spec.get("serviceAccountName"):
        yield from each_bad(f"{path}.serviceAccountName", account, dns_subdomain(account))
    for field in ("priorityClassName", "runtimeClassName"):
        if spec.get(field):
            yield from each_bad(f"{path}.{field}", spec[field], dns_subdomain(spec[field]))
    for at, toleration in enumerate(spec.get("tolerations") or []):
        yield from _toleration(f"{path}.tolerations[{at}]", toleration)


def _toleration(path: str, item: Object) -> Iterator[str]:
    key, operator = item.get("key", ""), item.get("operator", "")
    if key:
        yield from each_bad(f"{path}.key", key, label_key(key))
    elif operator != "Exists":
        words = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield bad(f"{path}.operator", operator, words)
    if item.get("tolerationSeconds") is not None and item.get("effect") != "NoExecute":
        yield bad(
            f"{path}.effect", item.get("effect", ""), "effect must be 'NoExecute' when `tolerationSeconds` is set"
        )
    if operator == "Exists" and item.get("value"):
        yield bad(f"{path}.operator", item["value"], "value must be empty when `operator` is 'Exists'")
    yield from one_of(f"{path}.operator", operator or None, ("Equal", "Exists"))
    yield from one_of(f"{path}.effect", item.get("effect") or None, EFFECTS)
