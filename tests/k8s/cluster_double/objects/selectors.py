"""Label and field selectors, as strings of a query. Pure."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.k8s.cluster_double.objects.errors import bad_request

Object = dict[str, Any]
Labels = Mapping[str, str]

_SET = re.compile(r"^\s*(\S+)\s+(in|notin)\s+\(([^)]*)\)\s*$")
_EQUAL = re.compile(r"^\s*([^=!\s]+)\s*(==|=|!=)\s*(\S*)\s*$")
_EXISTS = re.compile(r"^\s*(!?)\s*([^=!\s,()]+)\s*$")


def label_matcher(text: str) -> Callable[[Labels], bool]:
    """A test for the labels of an object. Raises Refused 400 for a selector that cannot be read."""
    tests = [_requirement(part) for part in re.split(r",(?![^(]*\))", text) if part.strip()]
    return lambda labels: all(test(labels) for test in tests)


def field_matcher(text: str) -> Callable[[Object], bool]:
    """A test for an object by fields such as `metadata.name=x,status.phase!=Running`."""
    tests = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        found = _EQUAL.match(part)
        if not found:
            raise bad_request(f"invalid field selector {text!r}")
        path, operator, value = found.groups()
        tests.append((path.split("."), operator == "!=", value))
    return lambda item: all((_field(item, path) == value) != negated for path, negated, value in tests)


def matches(selector: Object, labels: Labels) -> bool:
    """Whether a `LabelSelector` object selects these labels; an empty one selects everything."""
    equal = all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
    return equal and all(_expression(each, labels) for each in selector.get("matchExpressions") or [])


def _expression(item: Object, labels: Labels) -> bool:
    value, values = labels.get(item["key"]), item.get("values") or []
    there = {"In": value in values, "NotIn": value not in values, "Exists": value is not None}
    return there.get(item["operator"], value is None)


def _requirement(part: str) -> Callable[[Labels], bool]:
    if found := _SET.match(part):
        key, operator, values = found[1], found[2], {value.strip() for value in found[3].split(",")}
        if operator == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if found := _EQUAL.match(part):
        key, operator, value = found.groups()
        if operator == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if found := _EXISTS.match(part):
        absent, key = bool(found[1]), found[2]
        return lambda labels: (key in labels) != absent
    raise bad_request(f"unable to parse requirement: {part!r}")


def _field(item: Object, path: list[str]) -> str:
    value: Any = item
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return "" if value is None else str(value)
