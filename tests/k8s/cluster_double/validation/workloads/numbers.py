"""Amounts that are numbers or percentages."""

import re
from collections.abc import Iterator

from tests.k8s.cluster_double.validation.causes import bad, not_negative
from tests.k8s.cluster_double.validation.names import form


def amount(path: str, value: int | str | None, *, most_percent: int | None = None) -> Iterator[str]:
    if isinstance(value, str):
        if not re.fullmatch(r"[0-9]+%", value):
            words = "a valid percent string must be a numeric string followed by an ending '%'"
            yield bad(path, value, form(words, "[0-9]+%", "1%", "93%"))
        elif most_percent is not None and int(value[:-1]) > most_percent:
            yield bad(path, value, f"must not be greater than {most_percent}%")
    else:
        yield from not_negative(path, value)


def is_nothing(value: int | str) -> bool:
    return value in (0, "0%")
