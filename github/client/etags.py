"""A small store of answers by ETag: a 304 costs no rate limit, so what is asked often is asked conditionally."""

from collections import OrderedDict
from dataclasses import dataclass

MAX_ENTRIES = 512
MAX_BODY = 512 * 1024


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer worth asking for again only if it changed."""

    etag: str
    body: bytes
    link: str


class Etags:
    """The answers seen last, the oldest forgotten first. A key names whose answer it is and to what."""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._kept: OrderedDict[tuple[str, str], Kept] = OrderedDict()
        self._max = max_entries

    def get(self, key: tuple[str, str]) -> Kept | None:
        """The kept answer, now the most recently used."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: tuple[str, str], kept: Kept) -> None:
        """Keep an answer, unless it has no ETag or is large."""
        if not kept.etag or len(kept.body) > MAX_BODY:
            self._kept.pop(key, None)
            return
        self._kept[key] = kept
        self._kept.move_to_end(key)
        while len(self._kept) > self._max:
            self._kept.popitem(last=False)
