"""The names of failing tests that did not fit among the shown lines, as short as may be."""

import re
from collections.abc import Sequence

MOST = 2_500  # bytes
LEAST = 200  # bytes of room, below which nothing is said
TAIL = 60  # bytes kept for the line that counts the rest
# what holds a test, up to its own name or its parameters: `test_it` of `test_it[1]`, `file.py::`, `Suite › `, `Class.`
HOLDER = re.compile(r"[^\[]+(?=\[.*\]$)|.+(?:::| › | > |#|/|\.(?=\w+$))")


def unshown(tests: Sequence[str], shown: str, room: int) -> list[str]:
    """Lines of at most `room` bytes, and of MOST, that name those of `tests` whose names are not in `shown`."""
    missing = [test for test in tests if test not in shown]
    room = min(room, MOST)
    if not missing or room < LEAST:
        return []
    head = f"Failing tests: {len(tests)}; not among the lines below:"
    room -= len(head.encode()) + 1
    listed = [f"  {test}" for test in missing]
    if _size(listed) > room:
        listed = _grouped(missing)
    out: list[str] = []
    while listed and _size([*out, listed[0]]) + TAIL <= room:
        out.append(listed.pop(0))
    if listed:
        out.append(_cut(listed[0], room - _size(out) - TAIL))
        out.append(f"  ... and more: {len(missing)} in all are not below")
    return [head, *out]


def _grouped(tests: Sequence[str]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for test in tests:
        found = HOLDER.match(test)
        holder = found[0] if found else ""
        groups.setdefault(holder, []).append(test[len(holder) :])
    return [f"  {holder}{', '.join(names)}" for holder, names in groups.items()]


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode(errors="replace")) + 1 for line in lines)


def _cut(line: str, room: int) -> str:
    """As many whole names of a line as fit."""
    short = line.encode(errors="replace")[: max(room, 0)].decode(errors="ignore")
    return short[: short.rfind(", ")] if ", " in short else short
