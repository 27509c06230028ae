"""How much a gateway takes on at once: requests of each turn, and bytes of all. It refuses at once, nobody waits."""

import contextlib
from collections import Counter
from collections.abc import Iterator


class NoRoom(Exception):
    """To be answered with the HTTP `status`; the message is for the agent, or for whoever reads what git says."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Room:
    """The room of one gateway in one process. Turns are known by their row's id."""

    def __init__(self, at_once: int, held: int) -> None:
        """`at_once`: requests of one turn; `held`: bytes of bodies, of which no turn takes more than a quarter but for
        a single one.
        """
        self._at_once = at_once
        self._most = held
        self._open: Counter[int] = Counter()
        self._held: Counter[int] = Counter()

    @contextlib.contextmanager
    def place(self, turn: int) -> Iterator[None]:
        """A place among the turn's requests while the block runs. Raises NoRoom."""
        if self._open[turn] >= self._at_once:
            raise NoRoom(429, f"More than {self._at_once} requests of one turn at once: try again.")
        with _taken(self._open, turn, 1):
            yield

    @contextlib.contextmanager
    def bytes(self, turn: int, size: int) -> Iterator[None]:
        """Room for a body of `size` bytes, before one of them is read, while the block runs. Raises NoRoom."""
        own = self._held[turn]
        if self._held.total() + size > self._most or (own and own + size > self._most // 4):
            raise NoRoom(503, "Too many large requests at once: try again.")
        with _taken(self._held, turn, size):
            yield


@contextlib.contextmanager
def _taken(counter: Counter[int], turn: int, number: int) -> Iterator[None]:
    counter[turn] += number
    try:
        yield
    finally:
        counter[turn] -= number
        if not counter[turn]:
            del counter[turn]
