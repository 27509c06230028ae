"""Conflicts that a turn was to resolve and left in the files. Pure."""

import re

from loops.guards.model import Finding, shown

_BEGINS = re.compile(rb"^<{7} ", re.MULTILINE)
_ENDS = re.compile(rb"^>{7} ", re.MULTILINE)


def left(path: str, content: bytes) -> Finding | None:
    """What is said of a file that still holds both sides, as `git merge` wrote them."""
    if not _BEGINS.search(content) or not _ENDS.search(content):
        return None
    text = f"{shown(path)} still holds the marks of a merge conflict: the agent did not bring both sides together."
    return Finding("conflict", path, text)
