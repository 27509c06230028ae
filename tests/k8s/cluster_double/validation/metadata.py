"""Name, labels, annotations and owners of an object."""

import re
from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.objects.resources import Resource
from tests.k8s.cluster_double.validation.causes import bad, each_bad, required, too_long
from tests.k8s.cluster_double.validation.names import (
    dns_label,
    dns_subdomain,
    label_key,
    label_value,
    path_segment,
)

Object = dict[str, Any]

NAMES = {
    "Namespace": dns_label,
    "Service": dns_label,
    "Role": path_segment,
    "RoleBinding": path_segment,
    "ClusterRole": path_segment,
    "ClusterRoleBinding": path_segment,
    "StatefulSet": dns_label,
    "PodDisruptionBudget": path_segment,
}
ANNOTATION_BYTES = 256 * 1024
FINALIZERS = ("kubernetes", "foregroundDeletion", "orphan")
# The job's name and the minute have to fit behind it.
CRON_JOB_CHARACTERS = 52


def metadata(resource: Resource, item: Object) -> Iterator[str]:
    name = item.get("name")
    check = NAMES.get(resource.kind, dns_subdomain)
    if prefix := item.get("generateName"):
        # what is made up behind it may follow a hyphen
        yield from each_bad("metadata.generateName", prefix, check(re.sub("-$", "a", prefix)))
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from each_bad("metadata.name", name, check(name))
    yield from labels("metadata.labels", item.get("labels") or {})
    if name and resource.kind == "CronJob" and len(name) > CRON_JOB_CHARACTERS:
        yield bad("metadata.name", name, f"must be no more than {CRON_JOB_CHARACTERS} characters")
    yield from annotations("metadata.annotations", item.get("annotations") or {})
    yield from _owners("metadata.ownerReferences", item.get("ownerReferences") or [])
    for at, each in enumerate(item.get("finalizers") or []):
        yield from each_bad("metadata.finalizers", each, label_key(each))
        if "/" not in each and each not in FINALIZERS:
            words = "name is neither a standard finalizer name nor is it fully qualified"
            yield bad(f"metadata.finalizers[{at}]", each, words)


def annotations(path: str, values: Object) -> Iterator[str]:
    for key in values:
        # Only here the case of a prefix does not matter, for the sake of old objects.
        yield from each_bad(path, key, label_key(key.lower()))
    if sum(len(key) + len(value) for key, value in values.items()) > ANNOTATION_BYTES:
        yield too_long(path, ANNOTATION_BYTES)


def _owners(path: str, owners: list[Object]) -> Iterator[str]:
    leaders: list[str] = []
    for owner in owners:
        version, kind = owner.get("apiVersion") or "", owner.get("kind") or ""
        if not version or version.count("/") > 1:
            yield bad(f"{path}.apiVersion", version, "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                yield bad(f"{path}.{field}", owner.get(field) or "", "must not be empty")
        if (version, kind) == ("v1", "Event"):
            yield bad(path, owner, "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller"):
            leaders.append(f"{kind}/{owner.get('name')}")
    if len(leaders) > 1:
        words = 'Only one reference can have Controller set to true. Found "true" in references for '
        yield bad(path, owners, words + " and ".join(leaders))


def labels(path: str, values: Object) -> Iterator[str]:
    for key, value in values.items():
        yield from each_bad(path, key, label_key(key))
        yield from each_bad(path, value, label_value(value))


def selector(path: str, wanted: Object | None) -> Iterator[str]:
    """A label selector."""
    yield from labels(f"{path}.matchLabels", (wanted or {}).get("matchLabels") or {})
    for at, each in enumerate((wanted or {}).get("matchExpressions") or []):
        here, operator, values = f"{path}.matchExpressions[{at}]", each.get("operator"), each.get("values") or []
        if operator in ("In", "NotIn") and not values:
            yield required(f"{here}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        elif operator in ("Exists", "DoesNotExist") and values:
            words = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield f"{here}.values: Forbidden: {words}"
        elif operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            yield bad(f"{here}.operator", operator or "", "not a valid selector operator")
        yield from each_bad(f"{here}.key", each.get("key", ""), label_key(each.get("key", "")))
        for number, value in enumerate(values):
            yield from each_bad(f"{here}.values[{number}]", value, label_value(value))
