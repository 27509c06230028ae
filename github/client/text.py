"""Text for GitHub within its limits. Pure."""

import re

MAX_BODY = 65_536  # characters of a comment, an issue's or a pull request's body
MAX_OUTPUT = 65_535  # bytes of a check run's summary or text

NOTE = "\n\n*(cut here: it would not fit into a comment)*"

CLOSING_ROOM = 160  # for what `_closing` adds at most

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_DETAILS = re.compile(r"<(/?)details\b", re.IGNORECASE)


def length(text: str) -> int:
    """The length as the strictest reader counts it: UTF-16 units."""
    return len(text) + sum(1 for character in text if ord(character) > 0xFFFF)


def clip(text: str, limit: int = MAX_BODY, note: str = NOTE) -> str:
    """`text`, or as much of its beginning as fits with `note` after it.

    It is cut at a line's end where that costs little; a code fence or `<details>` that the cut leaves open is closed.
    """
    if length(text) <= limit:
        return text
    room = max(0, limit - length(note) - CLOSING_ROOM)
    kept = text.encode("utf-16-le", "surrogatepass")[: room * 2].decode("utf-16-le", "surrogatepass")
    return _ended(kept, note)


def clip_bytes(text: str, limit: int = MAX_OUTPUT, note: str = NOTE) -> str:
    """As `clip`, for limits that count UTF-8 bytes."""
    whole = text.encode("utf-8", "replace")
    if len(whole) <= limit:
        return text
    room = max(0, limit - len(note.encode()) - CLOSING_ROOM)
    return _ended(whole[:room].decode("utf-8", "ignore"), note)


def _ended(kept: str, note: str) -> str:
    line_end = kept.rfind("\n")
    if line_end > max(0, len(kept) - 2000):
        kept = kept[:line_end]
    return kept + _closing(kept) + note


def _closing(text: str) -> str:
    """What closes the code fence and the `<details>` that `text` leaves open."""
    fence, open_details = "", 0
    for line in text.split("\n"):
        if found := _FENCE.match(line):
            mark, rest = found.groups()
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip():
                fence = ""
        elif not fence:
            for closing in _DETAILS.findall(line):
                open_details += -1 if closing else 1
    closed = f"\n{fence}" if fence and len(fence) <= 40 else ""
    return closed + "\n</details>" * min(max(open_details, 0), 8)
