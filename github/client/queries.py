"""Whether GraphQL is asked for an installation at all, and what it said lately.

One query stands for several requests of REST, out of a budget of its own; where it cannot be had, REST is asked.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from github.client.clock import Clock

CLOSED_SECONDS = 3600.0  # after a refusal: a permission that is missing, or a server that knows no such field
LEFT = 0.1  # the share of the budget that is left to what only GraphQL can do
MOST_KEPT = 64  # answers; they are kept for the steps that follow each other within seconds

Key = tuple[Any, ...]


class QueryUnavailable(Exception):
    """GraphQL does not answer this now: REST has to be asked."""


class Queries:
    """What is known of GraphQL by installation, for one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._closed: dict[int, float] = {}
        self._kept: OrderedDict[Key, tuple[float, Any]] = OrderedDict()

    def closed(self, installation_id: int) -> bool:
        """Whether the installation's queries are to go to REST."""
        return self._clock.now() < self._closed.get(installation_id, 0.0)

    def close(self, installation_id: int, until: float) -> None:
        """Ask no more until then (Unix seconds)."""
        self._closed[installation_id] = until

    def told(self, installation_id: int, headers: Mapping[str, str]) -> None:
        """Keep to the budget that an answer's headers tell."""
        try:
            left, limit = float(headers["x-ratelimit-remaining"]), float(headers["x-ratelimit-limit"])
            reset = float(headers["x-ratelimit-reset"])
        except (KeyError, ValueError):
            return  # a server without limits
        if left < limit * LEFT:
            self.close(installation_id, reset)

    def kept(self, key: Key, max_age: float) -> Any:
        """An answer of at most `max_age` seconds, or None."""
        found = self._kept.get(key)
        return found[1] if found is not None and self._clock.now() - found[0] < max_age else None

    def keep(self, key: Key, answer: Any) -> None:
        """Keep an answer; the oldest gives way."""
        self._kept.pop(key, None)
        self._kept[key] = (self._clock.now(), answer)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
