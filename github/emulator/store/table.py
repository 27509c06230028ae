"""Rows by numeric id, as GitHub numbers its objects: every kind has its own growing series."""

import base64
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar


class Row(Protocol):
    id: int


R = TypeVar("R", bound=Row)


class Table(Generic[R]):
    """Rows of one kind, in the order of their ids."""

    def __init__(self, first_id: int) -> None:
        self._next = first_id
        self._rows: dict[int, R] = {}

    def new_id(self) -> int:
        self._next += 1
        return self._next

    def add(self, row: R) -> R:
        self._rows[row.id] = row
        return row

    def get(self, row_id: int) -> R | None:
        return self._rows.get(row_id)

    def remove(self, row: R) -> None:
        self._rows.pop(row.id, None)

    def __iter__(self) -> Iterator[R]:
        return iter(list(self._rows.values()))

    def __len__(self) -> int:
        return len(self._rows)


def node_id(prefix: str, row_id: int) -> str:
    """The GraphQL id: a type prefix and an opaque base64 of the numeric id."""
    packed = b"\x92\x00\xce" + row_id.to_bytes(8, "big")
    return f"{prefix}_{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def row_id_of(node: str, prefix: str) -> int | None:
    """The numeric id inside a GraphQL id of the type `prefix`; None when it is not one."""
    kind, _, packed = node.partition("_")
    if kind != prefix or not packed:
        return None
    try:
        raw = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
    except ValueError:
        return None
    return int.from_bytes(raw[3:], "big") if len(raw) == 11 and raw.startswith(b"\x92\x00\xce") else None
