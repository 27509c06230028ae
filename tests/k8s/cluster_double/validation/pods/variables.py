"""The environment of a container, and what of its pod it may be told."""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, each_bad, if_named, named, required, unknown
from tests.k8s.cluster_double.validation.names import config_key, dns_subdomain, label_key, variable

Object = dict[str, Any]

# Of a pod itself: for a variable, and for a file.
FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
    "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
FILE_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
# What the API converts when it reads a pod; anything else it does not know at all.
CONVERTED = {*FIELDS, *FILE_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase"}
AMOUNTS = (
    "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage",
    "requests.memory",
)  # fmt: skip
SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def variables(path: str, items: list[Object]) -> Iterator[str]:
    for at, item in enumerate(items):
        yield from named(f"{path}[{at}].name", item.get("name"), variable)
        if item.get("valueFrom") is not None:
            yield from _source(f"{path}[{at}].valueFrom", item["valueFrom"], str(item.get("value") or ""))


def _source(path: str, source: Object, value: str) -> Iterator[str]:
    given = [field for field in SOURCES if source.get(field) is not None]
    for field in given:
        if field == "fieldRef":
            yield from field_of_pod(f"{path}.fieldRef", source[field], FIELDS)
        elif field == "resourceFieldRef":
            yield from amount_of_container(f"{path}.resourceFieldRef", source[field])
        elif field != "fileKeyRef":
            yield from each_bad(f"{path}.{field}.name", source[field].get("name", ""), _name(source[field]))
            yield from named(f"{path}.{field}.key", source[field].get("key"), config_key)
    if not given:
        *most, last = (f"`{field}`" for field in SOURCES)
        yield bad(path, "", f"must specify one of: {', '.join(most)} or {last}")
    elif value:
        yield bad(path, "", "may not be specified when `value` is not empty")
    elif len(given) > 1:
        yield bad(path, "", "may not have more than one field specified at a time")


def _name(source: Object) -> Iterator[str]:
    return dns_subdomain(source.get("name") or "")


def field_of_pod(path: str, item: Object, allowed: Sequence[str]) -> Iterator[str]:
    where, version = item.get("fieldPath") or "", item.get("apiVersion") or "v1"
    here = f"{path}.fieldPath"
    subscripted = where.endswith("']") and where.startswith(("metadata.labels['", "metadata.annotations['"))
    if not where:
        yield required(here)
    elif version != "v1":
        yield bad(here, where, f"error converting fieldPath: unsupported pod version: {version}")
    elif where.startswith("metadata.labels['") and subscripted:
        key = where.removeprefix("metadata.labels['").removesuffix("']")
        yield from each_bad(path, key, label_key(key))
    elif not subscripted and where not in CONVERTED:
        yield bad(here, where, f"error converting fieldPath: field label not supported: {where}")
    elif not subscripted and where not in allowed:
        yield unknown(here, where, allowed)


def amount_of_container(path: str, item: Object) -> Iterator[str]:
    wanted = item.get("resource") or ""
    if not wanted:
        yield required(f"{path}.resource")
    elif wanted not in AMOUNTS and not wanted.startswith(("limits.hugepages-", "requests.hugepages-")):
        yield unknown(f"{path}.resource", wanted, AMOUNTS)
    elif wanted.endswith(".cpu") and str(item.get("divisor", "1")) not in ("0", "1", "1m"):
        words = "only divisor's values 1m and 1 are supported with the cpu resource"
        yield bad(f"{path}.divisor", wanted, words)


def whole_sources(path: str, items: list[Object]) -> Iterator[str]:
    """Config maps and secrets whose keys all become variables."""
    for at, item in enumerate(items):
        yield from if_named(f"{path}[{at}].prefix", item.get("prefix"), variable)
        kinds = [kind for kind in ("configMapRef", "secretRef") if item.get(kind) is not None]
        for kind in kinds:
            yield from named(f"{path}[{at}].{kind}.name", item[kind].get("name"), dns_subdomain)
        if not kinds:
            yield bad(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(kinds) > 1:
            yield bad(path, "", "may not have more than one field specified at a time")
