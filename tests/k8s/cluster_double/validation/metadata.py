"""Name, labels, annotations and owners of an object."""

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
    service_name,
)

Object = dict[str, Any]

NAMES = {
    "Namespace": dns_label,
    "Service": service_name,
    "Role": path_segment,
    "RoleBinding": path_segment,
    "ClusterRole": path_segment,
    "ClusterRoleBinding": path_segment,
    "StatefulSet": dns_label,
}
ANNOTATION_BYTES = 256 * 1024


def metadata(resource: Resource, item: Object) -> Iterator[str]:
    name = item.get("name")
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from each_bad("metadata.name", name, NAMES.get(resource.kind, dns_subdomain)(name))
    yield from labels("metadata.labels", item.get("labels") or {})
    annotations = item.get("annotations") or {}
    for key in annotations:
        # Only here the case of a prefix does not matter, for the sake of old objects.
        yield from each_bad("metadata.annotations", key, label_key(key.lower()))
    if sum(len(key) + len(value) for key, value in annotations.items()) > ANNOTATION_BYTES:
        yield too_long("metadata.annotations", ANNOTATION_BYTES)
    for owner in item.get("ownerReferences") or []:
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                yield bad(f"metadata.ownerReferences.{field}", owner.get(field, ""), "must not be empty")
    for finalizer in item.get("finalizers") or []:
        yield from each_bad("metadata.finalizers", finalizer, label_key(finalizer))


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
