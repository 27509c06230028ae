"""Causes of a refusal in the form of apimachinery's `field.Error`: path, kind of fault, value, detail."""

import json
from collections.abc import Iterable, Iterator


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else json.dumps(value, separators=(",", ":"), sort_keys=True)


def bad(path: str, value: object, detail: str) -> str:
    return f"{path}: Invalid value: {_shown(value)}: {detail}"


def each_bad(path: str, value: object, details: Iterable[str]) -> Iterator[str]:
    for detail in details:
        yield bad(path, value, detail)


def required(path: str, detail: str = "") -> str:
    return f"{path}: Required value{': ' if detail else ''}{detail}"


def denied(path: str, detail: str) -> str:
    return f"{path}: Forbidden: {detail}"


def missing(path: str, value: str) -> str:
    return f"{path}: Not found: {_shown(value)}"


def repeated(path: str, value: object) -> str:
    return f"{path}: Duplicate value: {_shown(value)}"


def too_long(path: str, most: int) -> str:
    return f"{path}: Too long: may not be more than {most} bytes"


def unknown(path: str, value: object, allowed: Iterable[str]) -> str:
    return f"{path}: Unsupported value: {_shown(value)}: supported values: {', '.join(map(_shown, allowed))}"


def one_of(path: str, value: object, allowed: Iterable[str]) -> Iterator[str]:
    """Nothing for a value that is left out: it gets its default."""
    names = tuple(allowed)
    if value is not None and value not in names:
        yield unknown(path, value, names)


def not_negative(path: str, value: int | None) -> Iterator[str]:
    if value is not None and value < 0:
        yield bad(path, value, "must be greater than or equal to 0")
