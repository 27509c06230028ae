"""Edits of a text: pieces that occur once, or everywhere. Pure."""

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

SHOWN_LINES = 12
"""Lines of the nearest place that an error shows."""
_LOOKED_AT, _WANTED = 20_000, 50


@dataclass(frozen=True)
class Edit:
    """Replace `old`, which occurs exactly once, by `new`; with `replace_all` wherever it occurs."""

    old: str
    new: str
    replace_all: bool = False


class CannotEdit(ValueError):
    """An edit does not fit the text. The message is for a model: what is wrong, and what stands there instead."""


def edited(text: str, edits: Sequence[Edit]) -> str:
    """`text` with all edits made, each on what the ones before it left. Raises CannotEdit; then none is made."""
    if not edits:
        raise CannotEdit("There is no edit.")
    for at, edit in enumerate(edits, start=1):
        which = "The text to replace" if len(edits) == 1 else f"The text to replace of edit {at} of {len(edits)}"
        text = _one(text, edit, which)
    return text


def _one(text: str, edit: Edit, which: str) -> str:
    if not edit.old:
        raise CannotEdit(f"{which} is empty; use write_file to make a file.")
    count = text.count(edit.old)
    if count == 0:
        raise CannotEdit(f"{which} does not occur. {nearest_place(text, edit.old)}")
    if count > 1 and not edit.replace_all:
        raise CannotEdit(
            f"{which} occurs {count} times; it must occur exactly once. Give more of the lines around it, or set "
            "replace_all."
        )
    return text.replace(edit.old, edit.new)


def nearest_place(text: str, old: str) -> str:
    """What a model is told of the place in `text` that is most like `old`, which is not in it."""
    if "\r\n" in text and "\r\n" not in old:
        return "Lines of this file end with \\r\\n."
    lines, wanted = text.split("\n")[:_LOOKED_AT], old.strip("\n").split("\n")
    at = _nearest(lines, wanted)
    if at is None:
        return "Nothing in the file is like it: read it again."
    place = "\n".join(lines[at : at + min(len(wanted) + 1, SHOWN_LINES)])
    return f"The nearest is at line {at + 1}, and reads:\n{place}"


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where most of the wanted lines stand, whatever their white space; else where one is like the first of them."""
    plain = [" ".join(line.split()) for line in lines]
    places: dict[str, list[int]] = {}
    for at, line in enumerate(plain):
        places.setdefault(line, []).append(at)
    votes: Counter[int] = Counter()
    told = [(at, " ".join(line.split())) for at, line in enumerate(wanted[:_WANTED]) if line.strip()]
    for at, line in told:
        found = places.get(line, ())
        # a line that stands everywhere says nothing of the place
        votes.update(max(0, place - at) for place in found[:100])
    if votes:
        most = max(votes.values())
        return min(place for place, count in votes.items() if count == most)
    close = difflib.get_close_matches(told[0][1][:200], [each[:200] for each in places][:2000], 1) if told else []
    return next((at for at, line in enumerate(plain) if line[:200] == close[0]), None) if close else None
