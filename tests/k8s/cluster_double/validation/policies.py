"""Quotas, ranges of limits, roles and their bindings."""

from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, each_bad, required, unknown
from tests.k8s.cluster_double.validation.names import dns_subdomain, label_key, path_segment
from tests.k8s.cluster_double.validation.quantities import amounts, quantity

Object = dict[str, Any]

RBAC = "rbac.authorization.k8s.io"
COUNTED = {
    "cpu", "memory", "ephemeral-storage", "pods", "services", "replicationcontrollers", "resourcequotas", "secrets",
    "configmaps", "persistentvolumeclaims", "services.nodeports", "services.loadbalancers", "requests.cpu",
    "requests.memory", "requests.ephemeral-storage", "requests.storage", "limits.cpu", "limits.memory",
    "limits.ephemeral-storage",
}  # fmt: skip


def resource_quota(spec: Object) -> Iterator[str]:
    hard = spec.get("hard") or {}
    for key, value in hard.items():
        here = f"spec.hard[{key}]"
        yield from each_bad(here, key, label_key(key))
        if "/" not in key and key not in COUNTED:
            yield bad(here, key, "must be a standard resource type or fully qualified")
            yield bad(here, key, "must be a standard resource for quota")
        whole = key in ("pods", "secrets", "services", "configmaps", "persistentvolumeclaims")
        if whole and quantity(value) % 1:
            yield bad(here, str(value), "must be an integer")
    yield from amounts("spec.hard", hard)


def limit_range(spec: Object) -> Iterator[str]:
    for at, limit in enumerate(spec.get("limits") or []):
        if limit.get("type") not in ("Pod", "Container", "PersistentVolumeClaim"):
            continue
        most, default, asked = (limit.get(field) or {} for field in ("max", "default", "defaultRequest"))
        for key in sorted({*most, *default, *asked}):
            here = f"spec.limits[{at}]"
            if key in asked and key in most and quantity(asked[key]) > quantity(most[key]):
                words = f"default request value {asked[key]} is greater than max value {most[key]}"
                yield bad(f"{here}.defaultRequest[{key}]", asked[key], words)
            if key in asked and key in default and quantity(asked[key]) > quantity(default[key]):
                words = f"default request value {asked[key]} is greater than default limit value {default[key]}"
                yield bad(f"{here}.defaultRequest[{key}]", asked[key], words)
            if key in default and key in most and quantity(default[key]) > quantity(most[key]):
                words = f"default value {default[key]} is greater than max value {most[key]}"
                yield bad(f"{here}.default[{key}]", most[key], words)


def role(item: Object) -> Iterator[str]:
    for at, rule in enumerate(item.get("rules") or []):
        if not rule.get("verbs"):
            yield required(f"rules[{at}].verbs", "verbs must contain at least one value")
        if rule.get("nonResourceURLs"):
            words = "namespaced rules cannot apply to non-resource URLs"
            yield bad(f"rules[{at}].nonResourceURLs", rule["nonResourceURLs"], words)
            continue
        if not rule.get("apiGroups"):
            yield required(f"rules[{at}].apiGroups", "resource rules must supply at least one api group")
        if not rule.get("resources"):
            yield required(f"rules[{at}].resources", "resource rules must supply at least one resource")


def role_binding(item: Object) -> Iterator[str]:
    reference = item.get("roleRef") or {}
    if reference.get("apiGroup", RBAC) != RBAC:
        yield unknown("roleRef.apiGroup", reference["apiGroup"], (RBAC,))
    if reference.get("kind") not in ("Role", "ClusterRole"):
        yield unknown("roleRef.kind", reference.get("kind", ""), ("Role", "ClusterRole"))
    if not reference.get("name"):
        yield required("roleRef.name")
    else:
        yield from each_bad("roleRef.name", reference["name"], path_segment(reference["name"]))
    for at, subject in enumerate(item.get("subjects") or []):
        yield from _subject(f"subjects[{at}]", subject)


def _subject(path: str, subject: Object) -> Iterator[str]:
    if not subject.get("name"):
        yield required(f"{path}.name")
    kind = subject.get("kind")
    if kind == "ServiceAccount":
        if subject.get("name"):
            yield from each_bad(f"{path}.name", subject["name"], dns_subdomain(subject["name"]))
        if subject.get("apiGroup"):
            yield unknown(f"{path}.apiGroup", subject["apiGroup"], ("",))
    elif kind not in ("User", "Group"):
        yield unknown(f"{path}.kind", kind or "", ("ServiceAccount", "User", "Group"))
