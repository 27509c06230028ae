"""How much of one worker an installation may keep busy: others find a place at once, however much one of them sends."""

import contextlib
from collections import Counter
from collections.abc import Iterator


class Shares:
    """Of `places` steps at a time one installation has three quarters at most, since a step may last minutes."""

    def __init__(self, places: int) -> None:
        self._each = max(1, places - places // 4)
        self._taken: Counter[int | None] = Counter()

    @contextlib.contextmanager
    def place(self, installation_id: int | None) -> Iterator[bool]:
        """A place for one step while the block runs; False where the installation has its share already."""
        if self._taken[installation_id] >= self._each:
            yield False
            return
        self._taken[installation_id] += 1
        try:
            yield True
        finally:
            self._taken[installation_id] -= 1
            if not self._taken[installation_id]:
                del self._taken[installation_id]
