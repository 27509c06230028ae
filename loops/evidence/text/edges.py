"""The beginning and the end of a log, whole, in bounded memory."""

from collections import deque

EDGE = 1_000_000  # bytes of each


class Edges:
    """Takes blocks of whole lines in order."""

    def __init__(self) -> None:
        self._head: list[tuple[int, bytes]] = []
        self._head_size = 0
        self._end: deque[tuple[int, bytes]] = deque()
        self._end_size = 0

    def add(self, number: int, block: bytes) -> None:
        """`number` is that of the block's first line."""
        if self._head_size < EDGE:
            self._head.append((number, block))
            self._head_size += len(block)
            return
        self._end.append((number, block))
        self._end_size += len(block)
        while self._end_size - len(self._end[0][1]) >= EDGE:
            self._end_size -= len(self._end.popleft()[1])

    def windows(self) -> list[tuple[int, bytes]]:
        """What is kept: of a log that is no longer than both, all."""
        return [*self._head, *self._end]
