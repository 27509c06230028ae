"""Connections: lists of GraphQL, from the front or from the end, page by page."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Json = dict[str, Any]
T = TypeVar("T")
PAGE = 100


def connection(rows: Callable[[Json], Sequence[T]], show: Callable[[T], Any]) -> Callable[..., Json]:
    """A field that lists what `rows` gives for its arguments; a cursor is the place in that list."""

    def resolve(
        _info: Any, first: int | None = None, last: int | None = None, after: str | None = None, **wanted: Any
    ) -> Json:
        found = rows(wanted)
        start = int(after or 0)
        end = min(start + (PAGE if first is None else first), len(found))
        if last is not None and first is None:
            start, end = max(start, len(found) - last), len(found)
        page = {"hasNextPage": end < len(found), "endCursor": str(end) if end > start else None}
        page |= {"hasPreviousPage": start > 0, "startCursor": str(start + 1) if end > start else None}
        return {"nodes": [show(row) for row in found[start:end]], "totalCount": len(found), "pageInfo": page}

    return resolve
