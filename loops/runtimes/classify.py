"""What kind of failure it was: by the CLI's own table, then by what providers say. Pure."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from loops.runtimes import waits
from loops.runtimes.base import clip, plain
from loops.runtimes.failures import Failure, FailureKind, Sign, Told
from loops.runtimes.provider_signs import PROVIDERS

LONGEST: Final = 20_000
"""Characters of a text that are looked at: its beginning and its end."""
_BRACES: Final = 20
_DEPTH: Final = 4
_STATUS = re.compile(
    r"(?:status(?:[ _]?code)?\W{0,4}|\berror:? |\bcode:? |answered |\(|http(?:/[\d.]{1,3})?[ :]{1,2})([45]\d\d)\b|"
    r"\b([45]\d\d)(?= (?:unauthori|forbidden|not found|too many|internal|bad |service unav|gateway|payment|overloaded|"
    r"request |payload|content too))",
    re.IGNORECASE,
)


def classify(signs: tuple[Sign, ...], told: Told) -> Failure:
    """The kind of a failure, with the useful line of what was said; where nobody knows it, it is a bug of the CLI."""
    known = _read(replace(told, text=plain(told.text)))
    if not told.exited:
        return Failure(FailureKind.KILLED, known.text)
    # patterns are of words, wherever lines were broken
    seen = replace(known, text=" ".join(known.text.split()))
    kind = next((sign.kind for sign in (*signs, *PROVIDERS) if sign.fits(seen)), None)
    if kind is None:
        kind = FailureKind.KILLED if (told.exit_code or 0) < 0 else FailureKind.BUG
    return Failure(kind, known.text, known.retry_after)


@dataclass(frozen=True)
class _Found:
    """An error object: its message, the names of the fault, and seconds to wait."""

    message: str
    names: tuple[str, ...]
    wait: float | None


def _read(told: Told) -> Told:
    """With what stands in the text: an error object of a provider, an HTTP status, a time to wait."""
    found = list(_objects(told.text, _DEPTH, told.now))
    code = " ".join([told.code, *(name for each in found for name in each.names)]).strip()
    whole = clip(told.text, LONGEST)
    text = clip(next((each.message for each in reversed(found) if each.message), whole), LONGEST)
    # patterns are of words, wherever lines were broken
    whole, line = " ".join(whole.split()), " ".join(text.split())
    status, after = told.status, told.retry_after
    if status is None and (match := _STATUS.search(whole)):
        status = int(match.group(1) or match.group(2))
    status = status if status is not None else next((int(name) for name in code.split() if name.isdigit()), None)
    if after is None:
        after = next((each.wait for each in found if each.wait is not None), None)
    if after is None:
        after = waits.said(line, told.now)
    return replace(told, text=text.strip(), code=code, status=status, retry_after=after)


def _objects(text: str, depth: int, now: float | None) -> Iterator[_Found]:
    """The error object in `text`, and the ones inside its message."""
    data = _first_object(text) if depth else None
    if data is None:
        return
    error: Any = data.get("error", data)
    if isinstance(error, str):
        # OAuth's answers, and those of small servers
        error = {**data, "message": data.get("error_description") or data.get("message") or error, "code": error}
    if not isinstance(error, dict):
        return
    message = next((str(error[name]) for name in ("message", "detail", "Message", "msg") if error.get(name)), "")
    details = [each for each in _listed(error.get("details")) if isinstance(each, dict)]
    names = [error.get(name) for name in ("type", "code", "status", "__type", "reason")]
    names += [each.get("reason") for each in details]
    named = tuple(str(name) for name in names if isinstance(name, str | int) and name)
    yield _Found(message, named, _wait(error, details, now))
    yield from _objects(message, depth - 1, now)


def _first_object(text: str) -> "dict[str, Any] | None":
    start = -1
    for _ in range(_BRACES):
        if (start := text.find("{", start + 1)) < 0:
            return None
        try:
            data, _end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        return data if isinstance(data, dict) else None
    return None


def _wait(error: "dict[str, Any]", details: "list[dict[str, Any]]", now: float | None) -> float | None:
    """Google's `RetryInfo`, and what others put beside the message."""
    told = [error.get(name) for name in ("retry_after", "retry_after_seconds", "resets_in_seconds")]
    told += [each.get("retryDelay") for each in details]
    if (
        wait := next((found for each in told if each and (found := waits.period(str(each))) is not None), None)
    ) is not None:
        return wait
    # Codex' server, OpenRouter and Google
    moments = [error.get("resets_at"), _within(error, "metadata", "headers", "X-RateLimit-Reset")]
    moments += [_within(each, "metadata", "quotaResetTimeStamp") for each in details]
    return next((found for each in moments if each and (found := waits.said(f"resets {each}", now)) is not None), None)


def _within(data: "dict[str, Any]", *names: str) -> object:
    found: object = data
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _listed(value: object) -> "list[Any]":
    return value if isinstance(value, list) else []
