"""What repositories are called now. Their ids last; their names change with a rename or a transfer."""

from github.client.clock import Clock

CONFIRMED = 30.0  # seconds for which a name that GitHub told us is not doubted


class Names:
    """Names by repository id, and when GitHub last confirmed each."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[int, tuple[str, float]] = {}

    def get(self, repository_id: int) -> str | None:
        """The name as far as we know."""
        known = self._known.get(repository_id)
        return known[0] if known else None

    def put(self, repository_id: int, full_name: str, *, confirmed: bool = True) -> None:
        """Learn a name: from GitHub just now, or (not `confirmed`) from elsewhere."""
        self._known[repository_id] = (full_name, self._clock.now() if confirmed else 0.0)

    def doubtful(self, repository_id: int) -> bool:
        """Whether a 404 may mean that the repository has another name by now."""
        known = self._known.get(repository_id)
        return known is None or not 0 <= self._clock.now() - known[1] < CONFIRMED

    def forget(self, repository_id: int) -> None:
        """The name was wrong."""
        self._known.pop(repository_id, None)
