"""The volumes of a pod."""

from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, denied, required
from tests.k8s.cluster_double.validation.quantities import quantity

Object = dict[str, Any]

# Sources that need a name, and the field that has it.
NAMED = {"secret": "secretName", "configMap": "name", "persistentVolumeClaim": "claimName"}


def volume(path: str, item: Object) -> Iterator[str]:
    kinds = [kind for kind in sorted(item) if kind != "name"]
    for kind in kinds[1:]:
        yield denied(f"{path}.{kind}", "may not specify more than 1 volume type")
    for kind in kinds[:1]:
        yield from _source(f"{path}.{kind}", kind, item[kind] or {})


def _source(path: str, kind: str, source: Object) -> Iterator[str]:
    if kind in NAMED and not source.get(NAMED[kind]):
        yield required(f"{path}.{NAMED[kind]}")
    mode = source.get("defaultMode")
    if mode is not None and not 0 <= mode <= 0o777:
        yield bad(f"{path}.defaultMode", mode, "must be a number between 0 and 0777 (octal), both inclusive")
    if kind in ("secret", "configMap"):
        yield from _items(f"{path}.items", source.get("items") or [])
    if kind == "projected":
        for at, part in enumerate(source.get("sources") or []):
            for inner in ("secret", "configMap"):
                if inner in part:
                    if not part[inner].get("name"):
                        yield required(f"{path}.sources[{at}].{inner}.name")
                    yield from _items(f"{path}.sources[{at}].{inner}.items", part[inner].get("items") or [])
    if source.get("sizeLimit") is not None and quantity(source["sizeLimit"]) < 0:
        yield denied(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _items(path: str, items: list[Object]) -> Iterator[str]:
    for at, item in enumerate(items):
        if not item.get("key"):
            yield required(f"{path}[{at}].key")
        where = item.get("path", "")
        if not where:
            yield required(f"{path}[{at}].path")
        elif where.startswith("/"):
            yield bad(f"{path}[{at}].path", where, "must be a relative path")
        elif ".." in where.split("/"):
            yield bad(f"{path}[{at}].path", where, "must not contain '..'")
