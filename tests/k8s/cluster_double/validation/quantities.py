"""Amounts of memory, CPU and storage."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from tests.k8s.cluster_double.objects.errors import bad_request
from tests.k8s.cluster_double.objects.resources import Resource
from tests.k8s.cluster_double.validation.causes import bad

QUANTITY = re.compile(r"([+-]?[0-9.]+)([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?")
SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
# Where objects hold quantities: a map of them, or one.
MAPS = {"requests", "limits", "hard", "default", "defaultRequest", "max", "min", "maxLimitRequestRatio", "averageValue"}
SINGLE = {"sizeLimit", "averageValue"}


def quantity(text: object) -> Decimal:
    """The value of a Kubernetes quantity, in bytes or cores. Raises ValueError if it is none."""
    found = QUANTITY.fullmatch(str(text))
    if not found or found[1].count(".") > 1 or found[1].strip("+-.") == "":
        raise ValueError(f"{text!r} is no quantity")
    number, suffix = Decimal(found[1]), found[2] or ""
    if suffix in BINARY:
        return number * Decimal(1024) ** BINARY[suffix]
    if suffix[:1] in ("e", "E") and len(suffix) > 1:
        return number.scaleb(int(suffix[1:]))
    return number.scaleb(SUFFIXES[suffix])


def shown(value: Decimal) -> str:
    """A value as Kubernetes writes it: in thousandths where it is no whole number, with the largest binary suffix."""
    if value % 1:
        return f"{int(value * 1000)}m"
    whole, suffix = int(value), ""
    for name in BINARY:
        if whole and whole % 1024 == 0:
            whole, suffix = whole // 1024, name
    return f"{whole}{suffix}"


def refuse_unreadable(resource: Resource, item: object) -> None:
    """Raises Refused 400 for a quantity that is none: such a body is not even decoded."""
    for value in _quantities(item):
        try:
            quantity(value)
        except ValueError as error:
            form = "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            words = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
            raise bad_request(f"{words}: quantities must match the regular expression {form}") from error


def _quantities(item: object) -> Iterator[object]:
    if isinstance(item, list):
        for part in item:
            yield from _quantities(part)
    elif isinstance(item, Mapping):
        for key, value in item.items():
            if key in MAPS and isinstance(value, Mapping):
                yield from value.values()
            elif key in SINGLE:
                yield value
            else:
                yield from _quantities(value)


def amounts(path: str, values: Mapping[str, object]) -> Iterator[str]:
    for key, value in values.items():
        if quantity(value) < 0:
            yield bad(f"{path}[{key}]", str(value), "must be greater than or equal to 0")


def within(path: str, requests: Mapping[str, object], limits: Mapping[str, object]) -> Iterator[str]:
    """What is asked for may not be more than the limit."""
    for key in sorted(requests.keys() & limits.keys()):
        if quantity(requests[key]) > quantity(limits[key]):
            words = f"must be less than or equal to {key} limit of {limits[key]}"
            yield bad(path, str(requests[key]), words)
