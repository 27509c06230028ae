"""Amounts of memory, CPU and storage."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from tests.k8s.cluster_double.objects.errors import bad_request
from tests.k8s.cluster_double.objects.resources import Resource
from tests.k8s.cluster_double.validation.causes import bad, denied, each_bad, required
from tests.k8s.cluster_double.validation.names import label_key

QUANTITY = re.compile(r"([+-]?[0-9.]+)([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?")
SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
# Where objects hold quantities: a map of them, or one.
MAPS = {"requests", "limits", "hard", "default", "defaultRequest", "max", "min", "maxLimitRequestRatio", "averageValue"}
SINGLE = {"sizeLimit", "averageValue"}

WHOLE = {
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
    "services.nodeports", "services.loadbalancers",
}  # fmt: skip
MEASURED = {"cpu", "memory", "ephemeral-storage"}
STANDARD = {
    *WHOLE, *MEASURED, *(f"{way}.{name}" for way in ("requests", "limits") for name in MEASURED), "storage",
    "requests.storage",
}  # fmt: skip
PAGES = "hugepages-"


def quantity(text: object) -> Decimal:
    """The value of a Kubernetes quantity, in bytes or cores. Raises ValueError if it is none."""
    found = QUANTITY.fullmatch(str(text).strip())
    if not found or found[1].count(".") > 1:
        raise ValueError(f"{text!r} is no quantity")
    number, suffix = Decimal(found[1] if found[1].strip("+-.") else 0), found[2] or ""
    if suffix in BINARY:
        return number * Decimal(1024) ** BINARY[suffix]
    if suffix[:1] in ("e", "E") and len(suffix) > 1:
        return number.scaleb(int(suffix[1:]))
    return number.scaleb(SUFFIXES[suffix])


def shown(value: Decimal, written: object = "1Ki") -> str:
    """A value as Kubernetes writes it: in thousandths where it is no whole number, else with the largest suffix.

    The suffix is a binary one where it was `written` with one.
    """
    if value % 1:
        return f"{int((value * 1000).to_integral_value(rounding='ROUND_CEILING'))}m"
    whole, suffix = int(value), ""
    binary = str(written).endswith("i")
    base = 1024 if binary else 1000
    for name in BINARY if binary else ("k", "M", "G", "T", "P", "E"):
        if whole and whole % base == 0:
            whole, suffix = whole // base, name
        else:
            break
    return f"{whole}{suffix}"


def canonical(written: object) -> str:
    """A quantity as Kubernetes writes it back."""
    return shown(quantity(written), written)


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


def is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    return not is_native(name) and not name.startswith("requests.")


def resource_name(path: str, name: str) -> Iterator[str]:
    wrong = list(label_key(name))
    yield from each_bad(path, name, wrong)
    standard = name in STANDARD or name.startswith((PAGES, f"requests.{PAGES}"))
    if not wrong and "/" not in name and not standard:
        yield bad(path, name, "must be a standard resource type or fully qualified")


def container_resource_name(path: str, name: str) -> Iterator[str]:
    yield from resource_name(path, name)
    if "/" not in name:
        if name not in MEASURED and not name.startswith(PAGES):
            yield bad(path, name, "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        yield bad(path, name, "doesn't follow extended resource name standard")


def amount_of(path: str, name: str, value: object) -> Iterator[str]:
    """An amount of the resource of this name."""
    found = quantity(value)
    if found < 0:
        yield bad(path, canonical(value), "must be greater than or equal to 0")
    if (name in WHOLE or is_extended(name)) and (found * 1000) % 1000:
        yield bad(path, canonical(value), "must be an integer")


def container_amounts(path: str, resources: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    """What a container asks for, and its limits."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, value in limits.items():
        yield from _container_amount(f"{path}.limits[{name}]", name, value)
    for name, value in requests.items():
        yield from _container_amount(f"{path}.requests[{name}]", name, value)
        shared = is_native(name) and not name.startswith(PAGES)
        if name not in limits:
            if not shared:
                yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
            continue
        asked, most = quantity(value), quantity(limits[name])
        if asked != most and not shared:
            yield bad(
                f"{path}.requests", canonical(value), f"must be equal to {name} limit of {canonical(limits[name])}"
            )
        elif asked > most:
            words = f"must be less than or equal to {name} limit of {canonical(limits[name])}"
            yield bad(f"{path}.requests", canonical(value), words)
    names = {*limits, *requests}
    if any(name.startswith(PAGES) for name in names) and not names & {"cpu", "memory"}:
        yield denied(path, "HugePages require cpu or memory")


def _container_amount(path: str, name: str, value: object) -> Iterator[str]:
    yield from container_resource_name(path, name)
    yield from amount_of(path, name, value)
    if name.startswith(PAGES) and quantity(value) % quantity(name.removeprefix(PAGES)):
        yield bad(path, canonical(value), f"{canonical(value)} is not positive integer multiple of {name}")
