"""Pages of lists and the `Link` header."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from github.emulator.api.call import Call, Listing


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() else default


def page(call: Call, listing: Listing) -> tuple[Any, Mapping[str, str]]:
    """The JSON of the page asked for, and its headers. `per_page` is 30 unless given, at most 100."""
    size = min(max(_integer(call.query.get("per_page"), 30), 1), 100)
    number = max(_integer(call.query.get("page"), 1), 1)
    total = len(listing.items)
    shown = [listing.show(item) for item in listing.items[(number - 1) * size : number * size]]
    body: Any = shown
    if listing.wrap:
        body = {"total_count": total, **listing.extra, listing.wrap: shown}
    return body, _link(call, number, max(-(-total // size), 1))


def _link(call: Call, number: int, last: int) -> Mapping[str, str]:
    """GitHub's links name a repository by its id, whatever the call named it by."""
    path = call.path
    if call.found is not None:
        before = 3 if path.startswith("/repositories/") else 4
        tail = path.split("/", before)[before] if path.count("/") >= before else ""
        path = f"/repositories/{call.found.id}/{tail}"
    wanted: dict[str, int] = {}
    if number > 1:
        wanted |= {"prev": min(number - 1, last), "first": 1}
    if number < last:
        wanted |= {"next": number + 1, "last": last}
    if not wanted:
        return {}
    links = []
    for rel in ("prev", "next", "last", "first"):
        if rel in wanted:
            query = urlencode({**call.query, "page": str(wanted[rel])})
            links.append(f'<{call.store.origins.api}{path}?{query}>; rel="{rel}"')
    return {"link": ", ".join(links)}
