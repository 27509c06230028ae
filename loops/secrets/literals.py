"""Many known texts found in one pass, in time linear in the length of what is searched."""

import threading
from collections.abc import Iterable

import hyperscan

from loops.secrets.recognise import one_byte_each

_KEY = 48
"""Characters of a text that are searched for; the rest is compared. Hyperscan takes no endless ones."""


class Literals:
    """Several threads may search at once. The search is prepared when it is first needed."""

    def __init__(self, values: Iterable[str]) -> None:
        self._by_key: dict[bytes, list[str]] = {}
        self._wide: list[str] = []
        for value in values:
            if any(character > "\xff" for character in value):
                self._wide.append(value)
            else:
                self._by_key.setdefault(value[:_KEY].encode("latin-1"), []).append(value)
        self._keys = list(self._by_key.items())
        self._preparing = threading.Lock()
        self._database: hyperscan.Database | None = None
        self._own = threading.local()

    def spans(self, text: str, data: bytes | None = None) -> list[tuple[int, int]]:
        """Where the values stand in `text`; they may overlap. `data` is `one_byte_each(text)`, if it is at hand."""
        found: list[tuple[int, int]] = []
        if self._keys:
            database = self._prepared()
            scratch = getattr(self._own, "scratch", None)
            if scratch is None:
                scratch = self._own.scratch = hyperscan.Scratch(database)

            def seen(index: int, _start: int, end: int, *_: object) -> None:
                key, values = self._keys[index]
                start = end - len(key)
                found.extend((start, start + len(value)) for value in values if text.startswith(value, start))

            database.scan(one_byte_each(text) if data is None else data, match_event_handler=seen, scratch=scratch)
        for value in self._wide:
            at = text.find(value)
            while at >= 0:
                found.append((at, at + len(value)))
                at = text.find(value, at + len(value))
        return found

    def _prepared(self) -> hyperscan.Database:
        with self._preparing:
            if self._database is None:
                database = hyperscan.Database()
                keys = [key for key, _ in self._keys]
                database.compile(
                    expressions=keys,
                    ids=list(range(len(keys))),
                    elements=len(keys),
                    flags=[0] * len(keys),
                    literal=True,
                )
                self._database = database
            return self._database
