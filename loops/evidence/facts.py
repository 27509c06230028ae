"""What the recognised lines say: failing tests by name, and diagnostics by place."""

from collections.abc import Iterator

from loops.evidence.clean import Lines
from loops.evidence.match import read
from loops.evidence.model import Annotation, Diagnostic
from loops.evidence.score import LIBRARY, Scored

MOST = 500  # of each


def failing_tests(lines: Lines, scored: Scored) -> tuple[str, ...]:
    """Names as the tools print them, in order, each once."""
    names: dict[str, None] = {}
    for i, shape in enumerate(scored.shapes):
        if shape is None or shape.role != "test" or scored.points[i] < 40:
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
    """Join a message, a file and a line that one tool prints on up to three lines."""
    file: dict[str, str] = {}
    message: dict[str, tuple[int, str]] = {}
    for i, shape in enumerate(scored.shapes):
        if shape is None or shape.role not in ("place", "title", "error", "detail") or scored.points[i] < 20:
            continue
        found = read(shape, lines.texts[i])
        if not found:
            continue
        groups = found.groupdict()
        line = groups.get("line")
        if groups.get("file") and shape.role == "title":
            file[shape.tool] = file[""] = groups["file"]
            continue
        if groups.get("message") and not line and not groups.get("file"):
            message[shape.tool] = (i, groups["message"])
            continue
        where = groups.get("file") or file.get(shape.tool) or file.get("")
        if not where or LIBRARY.search(where):
            continue
        at, text = message.get(shape.tool, (-10, ""))
        said = groups.get("message") or (text if i - at <= 6 else "") or _around(lines, i)
        yield Diagnostic(where, int(line) if line and line.isdigit() else None, said.strip()[:500], shape.tool)


def _around(lines: Lines, i: int) -> str:
    """A place without a message of its own: the line below it, or itself."""
    below = lines.texts[i + 1].strip() if i + 1 < len(lines.texts) and not lines.gap_before(i + 1) else ""
    return below or lines.texts[i].strip()
