"""A unified diff as rows that a page can show. Pure."""

import re
from dataclasses import dataclass, field
from typing import Literal

MOST_LINES = 4_000
"""Lines shown in all; a browser grows slow beyond, and nobody reads on."""

MOST_FILES = 400
MOST_ABOUT = 12
"""Lines of a file's header that are shown."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_QUOTED = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


@dataclass(frozen=True)
class Line:
    """`old` and `new` are line numbers, None where the line does not exist on that side."""

    kind: Literal["added", "removed", "context", "hunk", "note"]
    text: str
    old: int | None = None
    new: int | None = None


@dataclass
class FileDiff:
    """One file of a diff."""

    path: str
    old_path: str | None = None
    about: list[str] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    added: int = 0
    removed: int = 0


@dataclass(frozen=True)
class Diff:
    """All files; `left_out` is the number of lines that are not shown."""

    files: list[FileDiff]
    left_out: int = 0


def parse(text: str, most: int = MOST_LINES) -> Diff:
    """Read `git diff` output. Never fails: what is no diff becomes notes."""
    files: list[FileDiff] = []
    shown = left_out = old = new = 0
    in_hunk = False
    line: Line | None
    raws = text.split("\n")
    for number, raw in enumerate(raws):
        if raw.startswith("diff --git "):
            if len(files) >= MOST_FILES:
                left_out += len(raws) - number
                break
            files.append(FileDiff(_from_header(raw)))
            in_hunk = False
            continue
        if not files:
            if not raw.strip():
                continue
            files.append(FileDiff(""))
        file = files[-1]
        hunk = _HUNK.match(raw)
        if hunk:
            in_hunk, old, new = True, int(hunk[1]), int(hunk[2])
            line = Line("hunk", raw)
        elif in_hunk and raw[:1] in ("+", "-", " "):
            line, old, new = _changed(raw, old, new)
        elif in_hunk and raw:
            line = Line("note", raw.removeprefix("\\ "))
        else:
            line = _header(file, raw)
        if line is None:
            continue
        file.added += line.kind == "added"
        file.removed += line.kind == "removed"
        if shown < most:
            file.lines.append(line)
            shown += 1
        else:
            left_out += 1
    return Diff(files, left_out)


def _changed(raw: str, old: int, new: int) -> tuple[Line, int, int]:
    if raw[0] == "+":
        return Line("added", raw[1:], None, new), old, new + 1
    if raw[0] == "-":
        return Line("removed", raw[1:], old, None), old + 1, new
    return Line("context", raw[1:], old, new), old + 1, new + 1


def _header(file: FileDiff, raw: str) -> Line | None:
    """Take what a line before the first hunk says of the file; a line that says nothing of it is shown as a note."""
    if raw.startswith("rename from "):
        file.old_path = _unquoted(raw[12:])
    elif raw.startswith(("rename to ", "+++ ")):
        path = _unquoted(raw[10:] if raw[0] == "r" else raw[4:].rstrip("\t"))
        if path != "/dev/null":
            file.path = path.removeprefix("b/") if raw[0] == "+" else path
    elif raw.startswith(("new file", "deleted file", "old mode", "new mode", "similarity", "Binary files")):
        if len(file.about) < MOST_ABOUT:
            file.about.append(raw)
    elif raw and not raw.startswith(("index ", "--- ", "GIT binary", "literal ", "delta ")) and not file.path:
        return Line("note", raw)
    return None


def _from_header(raw: str) -> str:
    """The path in `diff --git a/X b/X`. With blanks in it, the middle is where both halves agree."""
    rest = raw.removeprefix("diff --git ")
    if rest.startswith('"'):
        return _unquoted(rest[rest.rfind(' "') + 1 :]).removeprefix("b/")
    half = len(rest) // 2
    if rest[2:half] == rest[half + 3 :]:
        return rest[2:half]
    return rest.rpartition(" b/")[2]


def _unquoted(path: str) -> str:
    """git writes unusual paths in quotes, with escapes as in C."""
    if not (path.startswith('"') and path.endswith('"') and len(path) > 1):
        return path

    def one(match: "re.Match[bytes]") -> bytes:
        code = match[1]
        return bytes([int(code, 8) & 0xFF]) if code.isdigit() else _ESCAPES.get(code, code)

    return _QUOTED.sub(one, path[1:-1].encode()).decode("utf-8", "replace")
