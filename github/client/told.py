"""What GitHub said of a repository a moment ago: one query tells what would be several requests of REST."""

from collections import OrderedDict
from typing import Any

from github.client.clock import Clock

MOST = 1024  # answers; they are for the step that asked, or about what never changes


class Told:
    """Answers by what was asked: the repository's id, the kind of thing and its name."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[int, str, str], tuple[float, Any]] = OrderedDict()

    def put(self, repository_id: int, kind: str, name: str, answer: Any) -> None:
        """Keep an answer of just now; the oldest gives way."""
        self.forget(repository_id, kind, name)
        self._kept[repository_id, kind, name] = (self._clock.now(), answer)
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)

    def get(self, repository_id: int, kind: str, name: str, max_age: float) -> tuple[Any] | None:
        """The answer of the last `max_age` seconds, in a tuple since it may be None."""
        found = self._kept.get((repository_id, kind, name))
        return (found[1],) if found is not None and self._clock.now() - found[0] < max_age else None

    def forget(self, repository_id: int, kind: str, name: str) -> None:
        """It has changed."""
        self._kept.pop((repository_id, kind, name), None)
