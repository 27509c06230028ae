"""What the project's own checkers say of files that were just edited, where they are at hand, and within a budget."""

import re
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from k8s.native.workspaces.workspace import Workspace, WorkspaceError

SECONDS = 20.0
"""After which one check is given up, and not made again in this run."""
BUDGET = 120.0
"""Seconds that all checks of a run may take."""
MOST_LINES, MOST_TEXT = 20, 300
"""Lines of findings that are shown of a check, and characters of each."""
_PLACE = re.compile(r"(?:vet: )?(\S[^:()\n]*)(?::\d+|\(\d+,\d+\))")
_OFFLINE = "GOPROXY=off GOTOOLCHAIN=local CARGO_NET_OFFLINE=true"


@dataclass(frozen=True)
class Checker:
    """Checks `{files}`, `{packages}` (their directories), or all of the project that `marker` is the file of. It runs
    in that one's directory; without a marker in the workspace's. Its findings are lines that begin with a place:
    `file:line: …`, or `file(line,column): …`.
    """

    program: str
    title: str
    endings: tuple[str, ...]
    command: str
    marker: str = ""


CHECKERS = (
    Checker("ruff", "ruff", (".py", ".pyi"), "ruff check --quiet --no-cache --output-format=concise -- {files}"),
    Checker(
        "tsc",
        "tsc",
        (".ts", ".tsx", ".mts", ".cts"),
        "tsc --noEmit --incremental false --pretty false --project .",
        "tsconfig.json",
    ),
    Checker("go", "go vet", (".go",), "go vet {packages}", "go.mod"),
    Checker("cargo", "cargo check", (".rs",), "cargo check --quiet --locked --message-format=short", "Cargo.toml"),
)


class Checkers:
    """The checkers over one workspace."""

    def __init__(self, workspace: Workspace, *, budget: float = BUDGET, seconds: float = SECONDS) -> None:
        self._workspace = workspace
        self._left = budget
        self._seconds = seconds
        self._slow: set[str] = set()

    def look_at(self, paths: Sequence[str]) -> str:
        """What they find in the projects of `paths`: a text to put below the answer of an edit, or an empty one."""
        told = [
            self._one(checker, folder, files)
            for checker in CHECKERS
            for folder, files in self._projects(checker, paths).items()
        ]
        return "".join(f"\n\n{text}" for text in told if text)

    def _projects(self, checker: Checker, paths: Sequence[str]) -> dict[str, list[str]]:
        """The files that `checker` is for, by the directory in which it has to run."""
        found: dict[str, list[str]] = {}
        for path in map(PurePosixPath, paths):
            folder = self._project(path, checker.marker) if path.suffix in checker.endings else None
            if folder is not None:
                found.setdefault(str(folder), []).append(str(path.relative_to(folder)))
        return found

    def _project(self, path: PurePosixPath, marker: str) -> PurePosixPath | None:
        if path.is_absolute() or ".." in path.parts:
            return None
        if not marker:
            return PurePosixPath(".")
        return next((folder for folder in path.parents if self._holds(folder, marker)), None)

    def _holds(self, folder: PurePosixPath, marker: str) -> bool:
        try:
            return marker in self._workspace.list(str(folder))
        except WorkspaceError:
            return False

    def _one(self, checker: Checker, folder: str, files: Sequence[str]) -> str:
        if checker.title in self._slow or self._left <= 0:
            return ""
        where = "" if folder == "." else f" in {folder}"
        seconds, begun = min(self._seconds, self._left), time.monotonic()
        done = self._workspace.exec(_in_shell(checker, folder, files), seconds)
        self._left -= time.monotonic() - begun
        if done.timed_out:
            self._slow.add(checker.title)
            return f"{checker.title}{where} took longer than {seconds:.0f} s; it is not run again after edits."
        found = _findings(done.stdout, files)
        if not found:
            return ""
        more = [f"… and {len(found) - MOST_LINES} more"] if len(found) > MOST_LINES else []
        return "\n".join((f"{checker.title}{where} finds:", *found[:MOST_LINES], *more))


def _in_shell(checker: Checker, folder: str, files: Sequence[str]) -> str:
    names = " ".join(shlex.quote(name) for name in files)
    packages = " ".join(sorted({shlex.quote(f"./{PurePosixPath(name).parent}") for name in files}))
    command = checker.command.format(files=names, packages=packages)
    # a project's own tools come behind those of the system; its directory may be below that of its environment
    own = 'PATH="$PATH:$PWD/.venv/bin:$PWD/node_modules/.bin"'
    there = f"cd {shlex.quote(folder)} && {own} && command -v {checker.program} >/dev/null"
    return f"export {own} {_OFFLINE}; {there} && {command} 2>&1"


def _findings(output: str, files: Sequence[str]) -> list[str]:
    """Lines that name a place, those of the edited files first. What a checker says of itself is none."""
    lines = [line[:MOST_TEXT] for line in output.splitlines() if _PLACE.match(line)]
    names = {PurePosixPath(name).name for name in files}

    def elsewhere(line: str) -> bool:
        place = _PLACE.match(line)
        return not place or PurePosixPath(place[1]).name not in names

    return sorted(lines, key=elsewhere)
