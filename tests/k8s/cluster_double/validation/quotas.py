"""Quotas and ranges of limits."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, denied, each_bad, repeated, required
from tests.k8s.cluster_double.validation.names import label_key
from tests.k8s.cluster_double.validation.quantities import (
    PAGES,
    STANDARD,
    amount_of,
    canonical,
    container_resource_name,
    is_native,
    quantity,
    resource_name,
)

Object = dict[str, Any]

COMPUTE = {"pods", *(f"{way}{name}" for way in ("", "limits.", "requests.") for name in ("cpu", "memory"))}
# Which resources of a quota each scope can be for.
SCOPES: dict[str, set[str]] = {
    "Terminating": COMPUTE,
    "NotTerminating": COMPUTE,
    "NotBestEffort": COMPUTE,
    "PriorityClass": COMPUTE,
    "CrossNamespacePodAffinity": COMPUTE,
    "BestEffort": {"pods"},
    "VolumeAttributesClass": {"persistentvolumeclaims", "requests.storage"},
}
OPPOSITES = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
TOLD = {"min": "min", "max": "max", "default": "default", "defaultRequest": "default request"}
# What may not be more than what, at which field that is said, and whose value is shown.
PAIRS = (
    ("min", "max", "min", "min"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest"),
    ("min", "default", "default", "min"),
    ("default", "max", "default", "max"),
)
LIMITED = ("Pod", "Container", "PersistentVolumeClaim")


def resource_quota(spec: Object) -> Iterator[str]:
    hard = spec.get("hard") or {}
    for key, value in hard.items():
        here = f"spec.hard[{key}]"
        yield from resource_name(here, key)
        counted = (key in STANDARD and key != "storage") or key.startswith((PAGES, f"requests.{PAGES}"))
        if "/" not in key and not counted:
            yield bad(here, key, "must be a standard resource for quota")
        yield from amount_of(here, key, value)
    scopes = spec.get("scopes") or []
    for scope in scopes:
        yield from _scope("spec.scopes", scope, scopes, hard)
    for pair in OPPOSITES:
        if set(pair) <= set(scopes):
            yield bad("spec.scopes", scopes, "conflicting scopes")
    for each in (spec.get("scopeSelector") or {}).get("matchExpressions") or []:
        yield from _scoped("spec.scopeSelector.matchExpressions", each, hard)


def _scope(path: str, scope: str, value: object, hard: Object) -> Iterator[str]:
    if scope not in SCOPES:
        yield bad(path, value, "unsupported scope")
    for key in sorted(hard):
        if key in STANDARD and key not in SCOPES.get(scope, STANDARD):
            yield bad(path, value, "unsupported scope applied to resource")


def _scoped(path: str, item: Object, hard: Object) -> Iterator[str]:
    scope, operator, values = item.get("scopeName", ""), item.get("operator", ""), item.get("values") or []
    if scope not in SCOPES:
        yield bad(f"{path}.scopeName", scope, "unsupported scope")
    if operator in ("In", "NotIn"):
        if not values:
            words = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            yield required(f"{path}.values", words)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            words = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            yield bad(f"{path}.values", values, words)
    else:
        yield bad(f"{path}.operator", operator, "not a valid selector operator")


def limit_range(spec: Object) -> Iterator[str]:
    kinds: set[str] = set()
    for at, limit in enumerate(spec.get("limits") or []):
        here, kind = f"spec.limits[{at}]", limit.get("type", "")
        wrong = list(label_key(kind))
        yield from each_bad(f"{here}.type", kind, wrong)
        if not wrong and "/" not in kind and kind not in LIMITED:
            yield bad(f"{here}.type", kind, "must be a standard limit type or fully qualified")
        if kind in kinds:
            yield repeated(f"{here}.type", kind)
        kinds.add(kind)
        yield from _limit(here, kind, limit)


def _limit(path: str, kind: str, limit: Object) -> Iterator[str]:
    named = container_resource_name if kind in ("Pod", "Container") else resource_name
    fields = ["max", "min", "default", "defaultRequest"]
    if kind == "Pod":
        for field in fields[2:]:
            if limit.get(field):
                yield denied(f"{path}.{field}", "may not be specified when `type` is 'Pod'")
        fields = fields[:2]
    for field in fields:
        for key in limit.get(field) or {}:
            yield from named(f"{path}.{field}[{key}]", key)
    if kind == "PersistentVolumeClaim" and "storage" not in {*(limit.get("min") or {}), *(limit.get("max") or {})}:
        words = "either minimum or maximum storage value is required, but neither was provided"
        yield required(f"{path}.limits", words)
    for key in limit.get("maxLimitRequestRatio") or {}:
        yield from named(f"{path}.maxLimitRequestRatio[{key}]", key)
    fields.append("maxLimitRequestRatio")
    for key in dict.fromkeys(key for field in fields for key in limit.get(field) or {}):
        yield from _together(path, key, {field: (limit.get(field) or {}).get(key) for field in fields})


def _together(path: str, key: str, given: dict[str, Any]) -> Iterator[str]:
    """What of the amounts of one resource does not fit together."""
    for less, more, field, blamed in PAIRS:
        low, high = given.get(less), given.get(more)
        if low is not None and high is not None and quantity(low) > quantity(high):
            high_name = "default limit" if (less, more) == ("defaultRequest", "default") else TOLD[more]
            words = f"{TOLD[less]} value {canonical(low)} is greater than {high_name} value {canonical(high)}"
            yield bad(f"{path}.{field}[{key}]", canonical(given[blamed]), words)
    yield from _ratio(f"{path}.maxLimitRequestRatio[{key}]", given)
    default, asked = given.get("default"), given.get("defaultRequest")
    shared = is_native(key) and not key.startswith(PAGES)
    if not shared and None not in (default, asked) and quantity(default) != quantity(asked):
        words = f"default value {canonical(default)} must equal to defaultRequest value {canonical(asked)} in {key}"
        yield bad(f"{path}.defaultRequest[{key}]", canonical(asked), words)


def _ratio(path: str, given: dict[str, Any]) -> Iterator[str]:
    ratio, least, most = (given.get(field) for field in ("maxLimitRequestRatio", "min", "max"))
    if ratio is None:
        return
    if quantity(ratio) < 1:
        yield bad(path, canonical(ratio), f"ratio {canonical(ratio)} is less than 1")
    if least is not None and most is not None and quantity(least):
        highest: Decimal = quantity(most) / quantity(least)
        if quantity(ratio) > highest:
            yield bad(path, canonical(ratio), f"ratio {canonical(ratio)} is greater than max/min = {highest:.6f}")
