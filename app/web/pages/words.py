"""Words and numbers as people read them. Pure."""

from datetime import UTC, datetime

from loops.store.tables import Session

STATES = {
    "pending": ("Waiting to start", "quiet"),
    "running": ("Working", "busy"),
    "waiting": ("Waiting for the checks", "busy"),
    "green": ("Green", "good"),
    "no_checks": ("Done, no checks ran", "good"),
    "no_changes": ("Done, nothing to change", "good"),
    "answered": ("Answered", "good"),
    "completed": ("Done", "good"),
    "failed": ("Failed", "bad"),
    "cancelled": ("Stopped", "quiet"),
}

TURNS = {
    "queued": "in line",
    "ready": "waits for its box",
    "running": "running",
    "reported": "being published",
    "done": "done",
    "failed": "failed",
    "cancelled": "stopped",
}


def state(session: Session) -> tuple[str, str]:
    """(what a session's state is called, its tone: quiet, busy, good or bad)."""
    named = session.outcome if session.status == "completed" and session.outcome else session.status
    return STATES.get(named, (named.replace("_", " "), "quiet"))


def moment(at: float | None) -> str:
    """A time, to the second, in UTC."""
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def iso(at: float | None) -> str:
    """A time as HTML's `datetime` wants it."""
    return "" if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def clock(at: float | None) -> str:
    """The time of day."""
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")


def span(seconds: float | None) -> str:
    """How long something took."""
    if seconds is None or seconds < 0:
        return ""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def count(number: float) -> str:
    """A number with its thousands apart."""
    return f"{number:,.0f}".replace(",", "\N{THIN SPACE}")
