"""Causes of a refusal in the form of apimachinery's `field.Error`: path, kind of fault, value, detail."""

import json
from collections.abc import Callable, Iterable, Iterator


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return (
        str(value) if isinstance(value, int | float) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    )


def bad(path: str, value: object, detail: str) -> str:
    return f"{path}: Invalid value: {_shown(value)}: {detail}"


def each_bad(path: str, value: object, details: Iterable[str]) -> Iterator[str]:
    for detail in details:
        yield bad(path, value, detail)


def required(path: str, detail: str = "") -> str:
    return f"{path}: Required value{': ' if detail else ''}{detail}"


def denied(path: str, detail: str) -> str:
    return f"{path}: Forbidden: {detail}"


def missing(path: str, value: str, detail: str = "") -> str:
    return f"{path}: Not found: {_shown(value)}{': ' if detail else ''}{detail}"


def repeated(path: str, value: object) -> str:
    return f"{path}: Duplicate value: {_shown(value)}"


def too_long(path: str, most: int) -> str:
    return f"{path}: Too long: may not be more than {most} bytes"


def unknown(path: str, value: object, allowed: Iterable[str]) -> str:
    return f"{path}: Unsupported value: {_shown(value)}: supported values: {', '.join(map(_shown, allowed))}"


def one_of(path: str, value: object, allowed: Iterable[str]) -> Iterator[str]:
    """Nothing for a value that is left out: it gets its default."""
    names = tuple(allowed)
    if value not in (None, "", *names):
        yield unknown(path, value, names)


def named(path: str, value: str | None, check: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """A name that has to be there, in the form that `check` wants."""
    if not value:
        yield required(path)
    else:
        yield from each_bad(path, value, check(value))


def if_named(path: str, value: str | None, check: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """A name that may be left out."""
    if value:
        yield from each_bad(path, value, check(value))


def not_negative(path: str, value: int | None) -> Iterator[str]:
    if value is not None and value < 0:
        yield bad(path, value, "must be greater than or equal to 0")


def positive(path: str, value: int | None, words: str = "must be greater than 0") -> Iterator[str]:
    if value is not None and value <= 0:
        yield bad(path, value, words)
