"""What an exchange with GitHub is: what is asked, and what of the answer matters. Values only; `target` asks.

Texts have holes: `<branch>` is what an earlier exchange kept under that name, or what the target begins with
(`repository`, `owner`, `default`, `prefix`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
_HOLE = re.compile(r"<(\w+)>")
_MISSING = object()


@dataclass(frozen=True)
class Like:
    """A text that the regular expression fits from end to end; holes are filled in as plain text."""

    pattern: str


@dataclass(frozen=True)
class Has:
    """A list or text in which this stands."""

    item: Any


@dataclass(frozen=True)
class Length:
    """A list of so many, or at least so many where `least`."""

    count: int
    least: bool = False


class Absent:
    """A field that is not there."""


@dataclass(frozen=True)
class Exchange:
    """One request and what is known of its answer.

    `path` is below the repository, or whole where it begins with a slash. `fields` maps places in the body
    (`head.ref`, `0.name`, "" for all of it) to what stands there: a value, a type, `Like`, `Has`, `Length` or `Absent`.
    `keep` maps names to places, for later holes; `header:etag` is a place too. `who` asks, where it is not the story's
    caller: `nobody`, `app` (by JWT), `wrong` (a token that never was), or a kept name that holds a token.
    `settles`: seconds within which the answer becomes this. `local`: why a real GitHub is not asked.
    """

    fact: str
    method: str
    path: str
    status: int
    body: Any = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, Any] = field(default_factory=dict)
    keep: Mapping[str, str] = field(default_factory=dict)
    send: Mapping[str, str] = field(default_factory=dict)
    who: str = ""
    settles: float = 0.0
    local: str = ""


@dataclass(frozen=True)
class Story:
    """Exchanges in the order in which they make sense, for each kind of caller: `installation` and `person`."""

    name: str
    exchanges: Sequence[Exchange]
    callers: Sequence[str] = ("installation", "person")


def filled(value: Any, known: Mapping[str, Any]) -> Any:
    """The value with its holes filled. A text that is one hole becomes what was kept, whatever its type.

    Raises KeyError for a hole that nothing fills.
    """
    if isinstance(value, str):
        if whole := _HOLE.fullmatch(value):
            return known[whole[1]]
        return _HOLE.sub(lambda hole: str(known[hole[1]]), value)
    if isinstance(value, Mapping):
        return {key: filled(each, known) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, known) for each in value]
    return value


def place(body: Any, path: str) -> Any:
    """What stands at a place of the body; `Absent` where there is no such place."""
    for part in path.split(".") if path else []:
        if isinstance(body, list) and part.isdigit() and int(part) < len(body):
            body = body[int(part)]
        elif isinstance(body, dict):
            body = body.get(part, _MISSING)
        else:
            body = _MISSING
        if body is _MISSING:
            return Absent
    return body


def fits(found: Any, wanted: Any, known: Mapping[str, Any]) -> bool:
    """Whether what was found is what was wanted."""
    if isinstance(wanted, type):
        if wanted is Absent or found is Absent:
            return found is wanted
        return isinstance(found, wanted) and (wanted is bool or not isinstance(found, bool))
    if isinstance(wanted, Like):
        pattern = _HOLE.sub(lambda hole: re.escape(str(known[hole[1]])), wanted.pattern)
        return isinstance(found, str) and re.fullmatch(pattern, found, re.DOTALL) is not None
    if isinstance(wanted, Has):
        item = filled(wanted.item, known)
        return found is not Absent and isinstance(found, list | str) and item in found
    if isinstance(wanted, Length):
        if not isinstance(found, list | str):
            return False
        return len(found) >= wanted.count if wanted.least else len(found) == wanted.count
    return bool(found == filled(wanted, known) and type(found) is type(filled(wanted, known)))


def flaws(
    exchange: Exchange, status: int, headers: Mapping[str, str], body: Any, known: Mapping[str, Any]
) -> list[str]:
    """How an answer differs from what the exchange says; nothing where it agrees."""
    found = [] if status == exchange.status else [f"status {status}, not {exchange.status}: {str(body)[:400]}"]
    seen = [(f"header {name}", headers.get(name, Absent), wanted) for name, wanted in exchange.headers.items()]
    seen += [(path or "the body", place(body, path), wanted) for path, wanted in exchange.fields.items()]
    found += [
        f"{what} is {value!r:.300}, not {wanted!r}" for what, value, wanted in seen if not fits(value, wanted, known)
    ]
    return found


def kept(exchange: Exchange, headers: Mapping[str, str], body: Any) -> Json:
    """What later exchanges refer to."""
    return {
        name: headers.get(path.removeprefix("header:")) if path.startswith("header:") else place(body, path)
        for name, path in exchange.keep.items()
    }
