"""Which nodes a pod may go to: affinity, spread, tolerations."""

from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import (
    bad,
    denied,
    each_bad,
    one_of,
    positive,
    repeated,
    required,
    unknown,
)
from tests.k8s.cluster_double.validation.metadata import selector
from tests.k8s.cluster_double.validation.names import dns_label, label_key, label_value

Object = dict[str, Any]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
WHEN = ("DoNotSchedule", "ScheduleAnyway")


def affinity(path: str, item: Object) -> Iterator[str]:
    for kind in ("nodeAffinity", "podAffinity", "podAntiAffinity"):
        found, here = item.get(kind) or {}, f"{path}.{kind}"
        if kind == "nodeAffinity":
            yield from _nodes(here, found)
            continue
        for at, term in enumerate(found.get(REQUIRED) or []):
            yield from _pods(f"{here}.{REQUIRED}[{at}]", term)
        for at, each in enumerate(found.get(PREFERRED) or []):
            yield from _weight(f"{here}.{PREFERRED}[{at}]", each)
            yield from _pods(f"{here}.{PREFERRED}[{at}].podAffinityTerm", each.get("podAffinityTerm") or {})


def _nodes(path: str, item: Object) -> Iterator[str]:
    if item.get(REQUIRED) is not None:
        terms, here = item[REQUIRED].get("nodeSelectorTerms") or [], f"{path}.{REQUIRED}.nodeSelectorTerms"
        if not terms:
            yield required(here, "must have at least one node selector term")
        for at, term in enumerate(terms):
            yield from _term(f"{here}[{at}]", term)
    for at, each in enumerate(item.get(PREFERRED) or []):
        yield from _weight(f"{path}.{PREFERRED}[{at}]", each)
        yield from _term(f"{path}.{PREFERRED}[{at}].preference", each.get("preference") or {})


def _weight(path: str, item: Object) -> Iterator[str]:
    weight = item.get("weight") or 0
    if not 1 <= weight <= 100:
        yield bad(f"{path}.weight", weight, "must be in the range 1-100")


def _term(path: str, term: Object) -> Iterator[str]:
    yield from _fields(path, term)
    for at, each in enumerate(term.get("matchExpressions") or []):
        here, operator, values = f"{path}.matchExpressions[{at}]", each.get("operator"), each.get("values") or []
        if operator in ("In", "NotIn"):
            if not values:
                yield required(f"{here}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                words = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield denied(f"{here}.values", words)
        elif operator in ("Gt", "Lt"):
            if len(values) != 1:
                yield required(f"{here}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
        else:
            yield bad(f"{here}.operator", operator or "", "not a valid selector operator")
        yield from each_bad(f"{here}.key", each.get("key", ""), label_key(each.get("key", "")))
        for number, value in enumerate(values):
            yield from each_bad(f"{here}.values[{number}]", value, label_value(value))


def _fields(path: str, term: Object) -> Iterator[str]:
    for at, each in enumerate(term.get("matchFields") or []):
        if each.get("key") != "metadata.name":
            yield bad(f"{path}.matchFields[{at}].key", each.get("key") or "", "not a valid field selector key")


def _pods(path: str, term: Object) -> Iterator[str]:
    yield from selector(f"{path}.labelSelector", term.get("labelSelector"))
    yield from selector(f"{path}.namespaceSelector", term.get("namespaceSelector"))
    for namespace in term.get("namespaces") or []:
        yield from each_bad(f"{path}.namespace", namespace, dns_label(namespace))
    topology = term.get("topologyKey") or ""
    if not topology:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from each_bad(f"{path}.topologyKey", topology, label_key(topology))


def spread(path: str, items: list[Object]) -> Iterator[str]:
    kinds = [(item.get("topologyKey"), item.get("whenUnsatisfiable")) for item in items]
    for at, item in enumerate(items):
        here, when = f"{path}[{at}]", item.get("whenUnsatisfiable") or ""
        yield from positive(f"{here}.maxSkew", item.get("maxSkew") or 0, "must be greater than zero")
        if not item.get("topologyKey"):
            yield required(f"{here}.topologyKey", "can not be empty")
        if when not in WHEN:
            yield unknown(f"{here}.whenUnsatisfiable", when, WHEN)
        if kinds[at] in kinds[at + 1 :]:
            yield repeated(f"{here}.{{topologyKey, whenUnsatisfiable}}", f"{{{kinds[at][0]}, {when}}}")
        if item.get("minDomains") is not None:
            yield from positive(f"{here}.minDomains", item["minDomains"], "must be greater than zero")
            if when != "DoNotSchedule":
                words = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
                yield bad(f"{here}.minDomains", item["minDomains"], words)
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            yield from one_of(f"{here}.{field}", item.get(field), ("Honor", "Ignore"))
        if item.get("matchLabelKeys") and item.get("labelSelector") is None:
            yield denied(f"{here}.matchLabelKeys", "must not be specified when labelSelector is not set")
        yield from selector(f"{here}.labelSelector", item.get("labelSelector"))


def tolerations(path: str, items: list[Object]) -> Iterator[str]:
    for at, item in enumerate(items):
        here, operator, value = f"{path}[{at}]", item.get("operator", ""), item.get("value") or ""
        if item.get("key"):
            yield from each_bad(f"{here}.key", item["key"], label_key(item["key"]))
        elif operator != "Exists":
            words = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield bad(f"{here}.operator", operator, words)
        if item.get("tolerationSeconds") is not None and item.get("effect") != "NoExecute":
            words = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield bad(f"{here}.effect", item.get("effect", ""), words)
        if operator in ("", "Equal"):
            yield from each_bad(f"{here}.operator", value, label_value(value))
        elif operator == "Exists":
            if value:
                yield bad(f"{here}.operator", value, "value must be empty when `operator` is 'Exists'")
        else:
            # `Lt` and `Gt` are known, and switched off.
            more = ("Lt", "Gt") if operator in ("Lt", "Gt") else ()
            yield unknown(f"{here}.operator", operator, ("Equal", "Exists", *more))
        yield from one_of(f"{here}.effect", item.get("effect"), EFFECTS)
