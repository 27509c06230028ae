"""Patches over several files, in the form that OpenAI's models are trained on (`*** Begin Patch`). Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from k8s.native.workspaces.edits import CannotEdit, nearest_place

BEGIN, END = "*** Begin Patch", "*** End Patch"
_ADD, _DELETE, _UPDATE, _MOVE = "*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: "
_END_OF_FILE = "*** End of File"


@dataclass
class Hunk:
    """Lines that stand together (`old`), and what takes their place; below the line that holds `anchor`, if any."""

    anchor: str = ""
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    at_end: bool = False


@dataclass
class FilePatch:
    """What a patch does to one file. `content` is an added one's; `moved_to` a new name of an updated one."""

    change: str
    path: str
    content: str = ""
    moved_to: str = ""
    hunks: list[Hunk] = field(default_factory=list)


@dataclass(frozen=True)
class FileChange:
    """A file as it is to be: `content` None is to be removed. `change` is add, update or delete."""

    change: str
    path: str
    content: str | None


def patched(patch: str, read: Callable[[str], str | None]) -> list[FileChange]:
    """What `patch` makes of files, of which `read` gives the text, or None where there is none.

    Raises CannotEdit for a patch that is not well formed, or does not fit.
    """
    now: dict[str, str | None] = {}
    before: dict[str, str | None] = {}

    def text(path: str) -> str | None:
        if path not in now:
            now[path] = before[path] = read(path)
        return now[path]

    for each in parsed(patch):
        content = text(each.path)
        if each.change == "add":
            if content is not None:
                raise CannotEdit(f"{each.path} is there already: use {_UPDATE.strip()} for it.")
            now[each.path] = each.content
            continue
        if content is None:
            raise CannotEdit(f"There is no file {each.path}.")
        if each.change == "delete":
            now[each.path] = None
            continue
        new = _updated(each, content)
        if each.moved_to and each.moved_to != each.path:
            if text(each.moved_to) is not None:
                raise CannotEdit(f"{each.moved_to} is there already: {each.path} cannot be moved there.")
            now[each.path], now[each.moved_to] = None, new
        else:
            now[each.path] = new
    return [
        FileChange("add" if before[path] is None else "delete" if content is None else "update", path, content)
        for path, content in now.items()
        if content != before[path]
    ]


def parsed(patch: str) -> list[FilePatch]:
    """The files of a patch. Raises CannotEdit, which says where and how it has to be."""
    lines = patch.strip().split("\n")
    lines = [line.removesuffix("\r") for line in lines]
    if lines[0].strip() != BEGIN:
        raise CannotEdit(f'The first line of a patch is "{BEGIN}", not {lines[0][:80]!r}.')
    if lines[-1].strip() != END or len(lines) < 2:
        raise CannotEdit(f'The last line of a patch is "{END}", not {lines[-1][:80]!r}.')
    files: list[FilePatch] = []
    for number, line in enumerate(lines[1:-1], start=2):
        if opened := _opened(line):
            files.append(opened)
        elif not files:
            raise _misplaced(number, line, f'"{_ADD}", "{_UPDATE}" or "{_DELETE}" and a path')
        else:
            _line(files[-1], number, line)
    if not files:
        raise CannotEdit("The patch names no file.")
    for each in files:
        if not each.path:
            raise CannotEdit("The patch names a file without a path.")
        if each.change == "update" and not each.moved_to and not any(hunk.old or hunk.new for hunk in each.hunks):
            raise CannotEdit(f"The patch changes nothing in {each.path}.")
    return files


def _opened(line: str) -> FilePatch | None:
    for words, change in ((_ADD, "add"), (_DELETE, "delete"), (_UPDATE, "update")):
        if line.startswith(words.rstrip()):
            return FilePatch(change, line[len(words.rstrip()) :].strip())
    return None


def _line(file: FilePatch, number: int, line: str) -> None:
    match file.change, line[:1]:
        case "add", "+":
            file.content += f"{line[1:]}\n"
        case "add", _:
            raise _misplaced(number, line, "a line of the new file, which begins with +")
        case "delete", _:
            raise _misplaced(number, line, "the next file")
        case "update", "*" if line.startswith(_MOVE) and not file.hunks:
            file.moved_to = line[len(_MOVE) :].strip()
        case "update", "*" if line.strip() == _END_OF_FILE and file.hunks:
            file.hunks[-1].at_end = True
        case "update", "@" if line.startswith("@@"):
            file.hunks.append(Hunk(_anchor(line)))
        case "update", (" " | "+" | "-" | "") as sign:
            if not file.hunks:
                file.hunks.append(Hunk())
            hunk = file.hunks[-1]
            if sign != "+":
                hunk.old.append(line[1:])
            if sign != "-":
                hunk.new.append(line[1:])
        case _:
            raise _misplaced(number, line, "a line that begins with a space, + or -, or @@")


def _anchor(line: str) -> str:
    """The words behind `@@`; of a header with numbers of lines, as diff makes them, those behind it."""
    words = line[2:].strip()
    if words.startswith("-") and "@@" in words:
        words = words.partition("@@")[2].strip()
    return words


def _misplaced(number: int, line: str, wanted: str) -> CannotEdit:
    return CannotEdit(f"Line {number} of the patch is {line[:80]!r}; here comes {wanted}.")


def _updated(file: FilePatch, content: str) -> str:
    crlf = "\r\n" in content and content.count("\r\n") == content.count("\n")
    lines = (content.replace("\r\n", "\n") if crlf else content).split("\n")
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    at = 0
    for number, hunk in enumerate(file.hunks, start=1):
        which = (
            f"Hunk {number} of {len(file.hunks)} for {file.path}"
            if len(file.hunks) > 1
            else f"The hunk for {file.path}"
        )
        if hunk.old[-1:] == [""] == hunk.new[-1:] and not _stands(lines, hunk, at):
            # an empty line between two hunks is no line of the file
            hunk = Hunk(hunk.anchor, hunk.old[:-1], hunk.new[:-1], hunk.at_end)
        start = _start(lines, hunk, at, which)
        lines[start : start + len(hunk.old)] = hunk.new
        at = start + len(hunk.new)
    text = "\n".join(lines) + ("\n" if ended or not content else "")
    return text.replace("\n", "\r\n") if crlf else text


def _stands(lines: Sequence[str], hunk: Hunk, at: int) -> bool:
    try:
        return _start(lines, hunk, at, "") >= 0
    except CannotEdit:
        return False


def _start(lines: Sequence[str], hunk: Hunk, at: int, which: str) -> int:
    if hunk.anchor:
        found = next((place for place in range(at, len(lines)) if lines[place].strip() == hunk.anchor), None)
        if found is None:
            found = next((place for place in range(at, len(lines)) if hunk.anchor in lines[place]), None)
        if found is None:
            raise CannotEdit(f"{which} does not fit: no line holds {hunk.anchor!r}. {_instead(lines, [hunk.anchor])}")
        at = found + 1 if lines[found] not in hunk.old[:1] else found
    if not hunk.old:
        return at if hunk.anchor else len(lines)
    for plain in (_exact, str.rstrip):
        place = _found([plain(line) for line in lines], [plain(line) for line in hunk.old], at, at_end=hunk.at_end)
        if place is not None:
            return place
    raise CannotEdit(f"{which} does not fit: its lines do not stand there together. {_instead(lines, hunk.old)}")


def _found(lines: Sequence[str], wanted: Sequence[str], at: int, *, at_end: bool) -> int | None:
    """Where `wanted` stands from line `at` on: by a search of text, which is linear also where lines repeat."""
    if at_end:
        at = max(at, len(lines) - len(wanted))
    text, needle = ("".join(f"\n{line}" for line in part) + "\n" for part in (lines[at:], wanted))
    place = text.find(needle)
    return None if place < 0 else at + text.count("\n", 0, place)


def _exact(line: str) -> str:
    return line


def _instead(lines: Sequence[str], wanted: Sequence[str]) -> str:
    return nearest_place("\n".join(lines), "\n".join(wanted))
