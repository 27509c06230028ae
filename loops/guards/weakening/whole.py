"""The whole text of a changed file before and after the turn. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from loops.guards.patch import Patch


@dataclass(frozen=True, slots=True)
class Whole:
    """`old` is None for a file that is new, `new` for one that is gone; `was` is the path before, if it was another."""

    path: str
    old: str | None
    new: str | None
    was: str | None = None

    def before(self) -> list[str]:
        return (self.old or "").split("\n")

    def after(self) -> list[str]:
        return (self.new or "").split("\n")


def undone(patch: Patch, new: str | None) -> str | None:
    """The text before `patch`, from the text after it; None where the diff was cut and does not tell."""
    if not all(hunk.exact for hunk in patch.hunks):
        return None
    if new is None:
        return "\n".join(line.text for line in patch.removed())
    after = new.split("\n")
    out: list[str] = []
    at = 0
    for hunk in patch.hunks:
        start = max(hunk.start - 1 if hunk.count else hunk.start, at)
        out += after[at:start]
        out += [line.text for line in hunk.lines if line.sign != "+"]
        at = start + sum(line.sign != "-" for line in hunk.lines)
    return "\n".join([*out, *after[at:]])


def fresh(whole: Whole, lines: Sequence[str] | None = None) -> list[tuple[int, str]]:
    """The lines of the new text, numbered from 1 and stripped, that stood nowhere in the old one."""
    there = {line.strip() for line in whole.before()}
    return [(at, line.strip()) for at, line in enumerate(lines or whole.after(), 1) if line.strip() not in there]
