"""When a limit is over, where its provider tells a day or a time of day and no number of seconds. Pure.

Claude Code, Codex and Gemini CLI tell a time of day, with a zone or in that of the machine, which is UTC in boxes.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from datetime import time as clock_time
from typing import Final
from zoneinfo import ZoneInfo

_LEAD = re.compile(
    r"\b(?:resets?|retry|try(?:ing)?|available|renews?|refresh(?:es)?|until|again)(?:[ _:='\"~,-]|"
    r"\b(?:again|will|be|at|on|after|by|until|from|is|only|not|before|earliest|reset|time)\b|_at\b){1,12}"
    r"|limit reached ?\|",
    re.IGNORECASE,
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAMED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("z", "utc", "gmt"), "UTC"),
    **dict.fromkeys(("pt", "pst", "pdt", "pacific"), "America/Los_Angeles"),
    **dict.fromkeys(("mt", "mst", "mdt", "mountain"), "America/Denver"),
    **dict.fromkeys(("ct", "cdt", "central"), "America/Chicago"),
    **dict.fromkeys(("et", "est", "edt", "eastern"), "America/New_York"),
    **dict.fromkeys(("cet", "cest"), "Europe/Berlin"),
    "bst": "Europe/London",
    "jst": "Asia/Tokyo",
}
"""Without `CST` and `IST`, which are several zones each."""
_TOKEN = re.compile(
    r"(?P<iso>\d{4}-\d\d-\d\d)(?!\d)"
    r"|(?P<epoch>[12]\d{9}(?:\d{3})?)(?![\d.])"
    r"|(?P<half>(?:1[0-2]|0?[1-9])(?::[0-5]\d){0,2} ?[ap]\.?m\b\.?)"
    r"|(?P<clock>(?:[01]?\d|2[0-3])(?::[0-5]\d){1,2})(?:[.,]\d{1,9})?(?![\d:])"
    r"|(?P<word>noon|midnight)\b"
    rf"|(?P<month>(?:{'|'.join(_MONTHS)})[a-z]{{0,6}}\b)(?!/)\.?"
    rf"|(?P<weekday>(?:{'|'.join(_DAYS)})(?:[a-z]{{0,4}}day|s|rs|r)?\b)\.?"
    r"|(?P<near>today|tomorrow)\b"
    rf"|(?P<zone>(?:{'|'.join(_NAMED)})\b(?![+/-])|(?:utc|gmt)?[+-]\d{{1,2}}(?::?[0-5]\d)?(?!\d)|"
    r"[a-z][a-z_]{1,20}(?:/[a-z_+-]{1,30}){1,2})"
    r"|(?P<year>20\d\d)\b(?![:/-])"
    r"|(?P<number>\d{1,2})(?:st|nd|rd|th)?\b(?![:/-])"
    r"|(?P<skip>[ ,;'\"()\[\]*`-]|t(?=\d)|(?:at|on|of|the|by|time)\b)"
    r"|(?P<unknown>(?-i:[A-Z]{3,5})\b)",
    re.IGNORECASE,
)
_WITHIN: Final = 80
"""Characters after the lead in which the time stands."""
_LATE: Final = timedelta(minutes=10)
"""A time of day that was just now is over, and not tomorrow's."""
_LONGEST: Final = timedelta(days=60)


def moment(text: str, now: float | None) -> tuple[int, float | None] | None:
    """Where such a time begins in `text`, and the seconds until then (0 for what is over); None where none is told.

    The seconds are None where they cannot be known: without `now`, in a zone that nobody knows, or months away.
    """
    for lead in _LEAD.finditer(text):
        told = _tokens(text[lead.end() : lead.end() + _WITHIN])
        if not told.keys() & {"epoch", "iso", "half", "clock", "word", "weekday"} and not (
            "month" in told and "number" in told
        ):
            continue
        at = _when(told, now) if now is not None else None
        wait = at - now if at is not None and now is not None else None
        return lead.start(), None if wait is None or wait > _LONGEST.total_seconds() else max(0.0, wait)
    return None


def _tokens(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while (match := _TOKEN.match(text, at)) is not None and match.lastgroup not in found:
        name = str(match.lastgroup)
        if name != "skip":
            found[name] = match[name] if name == "zone" else match[name].lower()
        at = match.end()
    return found


def _when(told: Mapping[str, str], now: float) -> float | None:
    if "epoch" in told:
        return float(told["epoch"][:10])
    zone = _zone(told)
    if zone is None:
        return None
    here = datetime.fromtimestamp(now, zone)
    try:
        time, day = _time(told), _day(told, here)
        if day is not None:
            return datetime.combine(day, time or clock_time(), zone).timestamp()
        if time is None:
            return None
        then = datetime.combine(here.date(), time, zone)
        return (then if then > here - _LATE else then + timedelta(days=1)).timestamp()
    except (ValueError, OverflowError):
        return None


def _zone(told: Mapping[str, str]) -> tzinfo | None:
    name = told.get("zone", "UTC")
    if "unknown" in told:
        return None
    key = _NAMED.get(name.lower(), name)
    try:
        if (offset := re.fullmatch(r"[a-zA-Z]{0,3}([+-])(\d{1,2}):?(\d\d)?", name)) is not None:
            away = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
            return timezone(-away if offset[1] == "-" else away)
        return UTC if key == "UTC" else ZoneInfo(key)
    except (KeyError, ValueError, OSError):
        return None


def _time(told: Mapping[str, str]) -> clock_time | None:
    if "word" in told:
        return clock_time(12 if told["word"] == "noon" else 0)
    half = told.get("half", "")
    digits = re.findall(r"\d+", half or told.get("clock", ""))
    if not digits:
        return None
    hour, minute, second = (*map(int, digits), 0, 0)[:3]
    if half:
        hour = hour % 12 + (12 if "p" in half else 0)
    return clock_time(hour, minute, second)


def _day(told: Mapping[str, str], here: datetime) -> date | None:
    if "iso" in told:
        return date.fromisoformat(told["iso"])
    if "month" in told and "number" in told:
        month, number = _MONTHS.index(told["month"][:3]) + 1, int(told["number"])
        if "year" in told:
            return date(int(told["year"]), month, number)
        day = date(here.year, month, number)
        # a year is left out of what comes soon
        return day if day >= here.date() - timedelta(days=1) else date(here.year + 1, month, number)
    if told.get("near") == "tomorrow":
        return here.date() + timedelta(days=1)
    if "weekday" in told:
        ahead = (_DAYS.index(told["weekday"][:3]) - here.weekday()) % 7
        then = here + timedelta(days=ahead)
        over = ahead == 0 and (_time(told) or clock_time()) < here.time()
        return (then + timedelta(days=7 if over else 0)).date()
    return None
