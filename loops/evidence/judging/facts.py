"""What the recognised lines say: failing tests by name, and diagnostics by place."""

import re
from collections.abc import Iterator

from loops.evidence.judging.beside import LIBRARY, STACK
from loops.evidence.judging.score import Scored
from loops.evidence.model import Annotation, Diagnostic
from loops.evidence.recognise.match import read
from loops.evidence.recognise.shapes.shape import Shape
from loops.evidence.text.clean import Lines
from loops.evidence.text.general import DULL
from loops.evidence.text.normal import in_checkout

MOST = 500  # of each
NEAR = 6  # lines between a place and what is said of it
UPWARD = ("python", "pytest")  # print a stack's innermost frame last, and what went wrong below it
LETTERS = re.compile(r"[^\W\d_]{2}")


def failing_tests(lines: Lines, scored: Scored) -> tuple[str, ...]:
    """Names as the tools print them, in order, each once."""
    names: dict[str, None] = {}
    for i, shape in enumerate(scored.shapes):
        if shape is None or shape.role != "test" or shape.kind == "lint" or scored.points[i] < 40:
            continue
        found = read(shape, lines.texts[i])
        if found and (name := (found["test"] or "").strip()):
            names.setdefault(name, None)
            if len(names) >= MOST:
                break
    return tuple(names)


def diagnostics(lines: Lines, scored: Scored, annotations: tuple[Annotation, ...]) -> tuple[Diagnostic, ...]:
    """Complaints with a place, in order, each once; annotations the log did not repeat come last."""
    unique: dict[Diagnostic, None] = {}
    for diagnostic in _said(lines, scored):
        unique.setdefault(diagnostic, None)
        if len(unique) >= MOST:
            break
    known = {(d.file, d.line) for d in unique}
    for a in annotations:
        if a.path and a.path != ".github" and (a.path, a.line) not in known:
            unique.setdefault(Diagnostic(a.path, a.line, a.message.strip()[:500], "annotation"), None)
    return tuple(unique)


def _said(lines: Lines, scored: Scored) -> Iterator[Diagnostic]:
    """Of each step that failed, or of all where none did: what its tools say of places."""
    judged = any(step.failed_at is not None for step in scored.step_of)
    places = _Places(lines)
    step = None
    for i, shape in enumerate(scored.shapes):
        if scored.step_of[i] is not step:
            step = scored.step_of[i]
            places = _Places(lines)
        if shape is None or scored.muted[i] or (judged and step.failed_at is None):
            continue
        if shape.role == "frame" or scored.points[i] >= 20:
            yield from places.of(i, shape)


class _Places:
    """Joins a file, a line and a message that one tool prints on several lines of one step."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._file: dict[str, tuple[str, str | None]] = {}
        self._message: dict[str, tuple[int, str]] = {}
        self._wrong: tuple[int, str, str] | None = None  # what went wrong: its last line, its first text, the tool
        self._frame: tuple[int, str, str] | None = None  # the innermost frame so far that is no library's, file, line

    def of(self, i: int, shape: Shape) -> Iterator[Diagnostic]:
        found = read(shape, self._lines.texts[i])
        if not found:
            return
        groups = found.groupdict()
        if shape.role == "frame":
            yield from self._framed(i, shape, groups)
        elif shape.role == "title":
            if groups.get("file") and "://" not in groups["file"]:
                self._file[shape.tool] = self._file[""] = groups["file"], groups.get("line")
        elif shape.role == "test":
            self._wrong = i, self._below(i, NEAR) or self._lines.texts[i], shape.tool
        elif shape.role in ("place", "error", "detail"):
            yield from self._placed(i, shape, groups)

    def _placed(self, i: int, shape: Shape, groups: dict[str, str | None]) -> Iterator[Diagnostic]:
        file, line, message = groups.get("file"), groups.get("line"), groups.get("message")
        if not file and not line:
            self._heard(i, shape, message)
            if shape.tool in UPWARD and self._frame and i - self._frame[0] <= NEAR:
                yield from _one(self._frame[1], self._frame[2], message or self._lines.texts[i], shape.tool)
                self._frame = self._wrong = None
            elif message and (titled := self._file.get(shape.tool)) and titled[1]:
                yield from _one(*titled, message, shape.tool)
            return
        if not file:
            file = (self._file.get(shape.tool) or self._file.get("", ("", None)))[0]
        at, told = self._message.get(shape.tool, (-NEAR - 1, ""))
        near = told if i - at <= NEAR else ""
        # a bare name of an exception says less than the line that it ends
        brief = message is not None and near.startswith(message.strip())
        yield from _one(file, line, (near if brief else message) or near or self._around(i, shape), shape.tool)
        self._frame = self._wrong = None

    def _framed(self, i: int, shape: Shape, groups: dict[str, str | None]) -> Iterator[Diagnostic]:
        file, line = groups.get("file") or "", groups.get("line") or ""
        if LIBRARY.search(self._lines.texts[i]):
            if self._frame:
                self._frame = i, *self._frame[1:]
        elif shape.tool in UPWARD:
            self._frame = i, file, line
        elif self._wrong and i - self._wrong[0] <= STACK:
            yield from _one(file, line, *self._wrong[1:])
            self._wrong = None

    def _heard(self, i: int, shape: Shape, message: str | None) -> None:
        """The first of the lines that say one thing is what was said."""
        at, _ = self._message.get(shape.tool, (-NEAR - 1, ""))
        if message and i - at > 2:
            self._message[shape.tool] = i, message
        elif message:
            self._message[shape.tool] = i, self._message[shape.tool][1]
        if self._wrong is None or i - self._wrong[0] > NEAR:
            self._wrong = i, message or self._lines.texts[i], shape.tool
        else:
            self._wrong = i, *self._wrong[1:]

    def _around(self, i: int, shape: Shape) -> str:
        """A place without a message of its own: what its tool prints below it, or itself."""
        return self._below(i, shape.after) or self._lines.texts[i]

    def _below(self, i: int, reach: int) -> str:
        """The first of the lines below that has words."""
        for j in range(i + 1, min(i + 1 + reach, len(self._lines.texts))):
            if self._lines.gap_before(j):
                break
            if LETTERS.search(self._lines.texts[j]) and not DULL.match(self._lines.texts[j]):
                return self._lines.texts[j]
        return ""


def _one(file: str, line: str | None, message: str, tool: str) -> Iterator[Diagnostic]:
    if file and not LIBRARY.search(file):
        number = int(line) if line and line.isdigit() else None
        yield Diagnostic(in_checkout(file), number, message.strip()[:500], tool)
