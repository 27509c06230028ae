"""The time of the local GitHub. A test may move it; everything stamped or expiring follows."""

from datetime import UTC, datetime, timedelta


class Clock:
    """Wall time plus an offset: a host whose clock is behind GitHub's sees a positive one."""

    def __init__(self) -> None:
        self.offset = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.offset

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass at once, for instance to expire a token."""
        self.offset += timedelta(seconds=seconds)

    def set_offset(self, seconds: float) -> None:
        """Run `seconds` ahead of this machine from now on, or behind it."""
        self.offset = timedelta(seconds=seconds)


def iso(moment: datetime) -> str:
    """GitHub's form of a moment: whole seconds, UTC, `Z`."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def iso_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)
