"""The redactors of running turns, each built once: to build one takes longer than to search what a turn prints."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence

from loops.secrets.redact import Redactor
from loops.store.tables import Turn

MOST = 1024
"""Turns whose redactors are kept."""


class TurnRedactors:
    """Each knows `own`'s secrets (the service's), what its turn was given, and what else is named."""

    def __init__(self, own: Redactor, most: int = MOST) -> None:
        self._own = own
        self._most = most
        self._kept: OrderedDict[tuple[int, bytes | None, tuple[str, ...]], Redactor] = OrderedDict()

    async def of(
        self, turn: Turn, secrets: Callable[[Turn], Awaitable[Sequence[str]]], more: Sequence[str] = ()
    ) -> Redactor:
        """The turn's redactor; `secrets` is asked for what the turn was given only where that is not known yet.

        Raises what `secrets` raises.
        """
        # what a turn was given is stored encrypted, anew with each change
        key = (turn.id, turn.given, tuple(more))
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = self._own.knowing([*await secrets(turn), *more])
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return found
