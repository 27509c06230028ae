"""Which files Git changes on their way into a commit: Git LFS, other filters, encodings, line endings.

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


def with_line_ends(git: Git, files: Mapping[bytes, bytes], base: Mapping[bytes, tuple[str, str]]) -> dict[bytes, bytes]:
    """The contents of those of `files` whose line ends the attributes `text` and `eol` in the index change.

    As in gitattributes(5): what is text ends its lines with LF in a commit. With `text=auto` that is found out, and a
    file that has CRLF in the base keeps it.
    """
    wanted = {path: content for path, content in files.items() if b"\r\n" in content}
    if not wanted:
        return {}
    feed = b"".join(path + b"\0" for path in wanted)
    fields = git.run("check-attr", "--cached", "-z", "--stdin", "text", "eol", stdin=feed).split(b"\0")
    said = {(fields[at], fields[at + 1]): fields[at + 2] for at in range(0, len(fields) - 2, 3)}
    changed = {}
    for path, content in wanted.items():
        text, eol = said[path, b"text"], said[path, b"eol"]
        automatic = text == b"auto" and _is_text(content) and not _has_crlf(git, base.get(path))
        if automatic or text == b"set" or (text == b"unspecified" and eol in (b"lf", b"crlf")):
            changed[path] = content.replace(b"\r\n", b"\n")
    return changed


def _is_text(content: bytes) -> bool:
    return b"\0" not in content and content.count(b"\r") == content.count(b"\r\n")


def _has_crlf(git: Git, entry: tuple[str, str] | None) -> bool:
    return entry is not None and b"\r\n" in git.run("cat-file", "blob", entry[1])


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
