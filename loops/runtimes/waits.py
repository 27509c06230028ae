"""How long a provider wants to be left alone, in all the ways in which they say it. In seconds; pure."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final

from loops.runtimes import reset_times

_UNITS: Final[Mapping[str, float]] = {"ms": 0.001, "milli": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_PERIOD = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(ms|milli|s|m|h|d)[a-z]{0,12}", re.IGNORECASE)
_ONE = r"\d{1,9}(?:\.\d{1,9})? ?(?:ms|millisec|sec|min|hour|hr|day|[smhd])[a-z]{0,6}"
_SAID = re.compile(
    r"(?:retry(?:ing)?|try(?:ing)? again|wait|available|resets?)"
    r"(?:[ _:='\"~-]|again|in|after|for|at least|about|another){1,8}"
    rf"(?P<time>{_ONE}(?:,? ?(?:and )?{_ONE}){{0,4}}|\d{{1,9}}(?:\.\d{{1,9}})?(?![\w:/-]|\.\d))",
    re.IGNORECASE,
)


def said(text: str, now: float | None = None) -> float | None:
    """The time in a sentence such as "Please try again in 1m20s"; a number alone is in seconds.

    A day or a time of day ("resets 3pm (Europe/Berlin)") counts from `now`, without which it says nothing.
    """
    found, at = _SAID.search(text), reset_times.moment(text, now)
    if at is not None and (found is None or at[0] <= found.start()):
        return at[1]
    return period(found["time"]) if found is not None else None


def period(text: str) -> float | None:
    """`34.5s`, `1m20s`, `1500ms`, `2 days 4 hours`, `20`."""
    parts = _PERIOD.findall(text)
    if not parts:
        plain = text.strip()
        return float(plain) if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", plain) else None
    return float(sum(float(number) * _UNITS[unit.lower()] for number, unit in parts))


def of_headers(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """What `Retry-After` (seconds, or a date: RFC 9110, 10.2.3) or `retry-after-ms` says.

    A date counts from the answer's own `Date`, else from `now`.
    """
    told = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    sent = _date(told.get("date", ""))
    since = sent if sent is not None else now
    if (ms := period(told.get("retry-after-ms", ""))) is not None:
        return ms / 1000
    after = told.get("retry-after", "")
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", after):
        return float(after)
    until = _date(after)
    if until is not None and since is not None:
        return max(0.0, until - since)
    return None


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
