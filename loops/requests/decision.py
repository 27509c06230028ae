"""What became of a delivery, as it is recorded with it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Decision:
    """`what`: started, continued, joined, hint, cancelled, answered, refused, ignored, noted, unreadable or failed."""

    what: str
    reason: str = ""
    session_id: int | None = None
