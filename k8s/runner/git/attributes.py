"""Which files Git would have to change on their way into a commit: Git LFS, other filters, encodings.

The attributes of both sides of a turn count, as the index holds them before it and after it: a rule that the turn takes
away must not publish as it stands what the rule had kept out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .command import Git

RULES = b".gitattributes"
LFS = ("filter", "lfs")
_NAMES = ("filter", "working-tree-encoding")
_NOTHING = (b"unspecified", b"unset", b"set")

Side = Mapping[bytes, frozenset[tuple[str, str]]]


@dataclass(frozen=True)
class Judged:
    """The paths under Git LFS, and those that cannot be published, each with the reason in words."""

    lfs: set[bytes] = field(default_factory=set)
    refused: dict[bytes, str] = field(default_factory=dict)


def side(git: Git, paths: Iterable[bytes]) -> Side:
    """The attributes of `paths` that change content, as the `.gitattributes` files in the index say now."""
    feed = b"".join(path + b"\0" for path in paths)
    fields = git.run("check-attr", "--cached", "-z", "--stdin", *_NAMES, stdin=feed).split(b"\0")
    found: dict[bytes, frozenset[tuple[str, str]]] = {}
    for start in range(0, len(fields) - 2, 3):
        path, name, value = fields[start : start + 3]
        if value not in _NOTHING:
            found[path] = found.get(path, frozenset()) | {(name.decode(), value.decode("utf-8", "replace"))}
    return found


def judge(before: Side, after: Side) -> Judged:
    """What the two sides make of the paths that either names."""
    judged = Judged()
    for path in {**before, **after}:
        both = before.get(path, frozenset()) | after.get(path, frozenset())
        foreign = sorted(both - {LFS})
        if foreign:
            name, value = foreign[0]
            judged.refused[path] = f"{name}={value} does not run here"
        elif LFS in after.get(path, frozenset()):
            judged.lfs.add(path)
        else:
            judged.refused[path] = "under Git LFS until now, and this turn takes the rule away"
    return judged
