"""Lines inside the hunks of a patch."""

import re

_HEADER = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def find_line(patch: str, line: int, side: str) -> str | None:
    """The hunk from its header down to `line` of the new side (RIGHT) or the old one (LEFT); None if it is in none."""
    taken: list[str] = []
    old = new = 0
    for text in patch.split("\n"):
        if found := _HEADER.match(text):
            taken, old, new = [text], int(found[1]) - 1, int(found[2]) - 1
            continue
        taken.append(text)
        old += text[:1] in (" ", "-", "")
        new += text[:1] in (" ", "+", "")
        on_side = (side == "RIGHT" and new == line and text[:1] != "-") or (
            side == "LEFT" and old == line and text[:1] != "+"
        )
        if on_side and not text.startswith("\\"):
            return "\n".join(taken)
    return None
