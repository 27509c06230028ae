"""Lines of files found by ripgrep, whose patterns take linear time; of directories it reads regular files alone."""

import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from k8s.native.workspaces.workspace import GREP_LINES, GREP_TEXT, WorkspaceError, at_most

SECONDS = 30.0
"""After which a search is given up."""
LARGEST = "10M"
"""Files beyond are passed over."""
_NUMBERED = re.compile(r"(\d+)([:-])")


def search(
    root: Path, pattern: str, path: str, context: int, unseen: Sequence[str], wanted: Callable[[str], bool]
) -> list[str]:
    """What matches below `path`, with `context` lines around it, of files whose name is `wanted`; see `Workspace.grep`.

    Raises WorkspaceError for a pattern that is none, a search that takes too long, or where there is no ripgrep.
    """
    argv = ["rg", "--no-config", "--no-messages", "--line-number", "--with-filename", "--no-heading", "--null"]
    argv += ["--color=never", "--sort=path", "--hidden", f"--max-filesize={LARGEST}", f"--context={context}"]
    argv += [*(f"--glob=!{name}" for name in unseen), f"--regexp={pattern}", "--", path]
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(argv, cwd=root, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)
    except OSError:
        raise WorkspaceError("ripgrep (rg) is not installed here: search with bash.") from None
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    clock = threading.Timer(SECONDS, end)
    clock.start()
    try:
        found = list(islice(_lines(process, wanted), GREP_LINES + 1))
        if len(found) > GREP_LINES:
            process.kill()
        _, said = process.communicate()
    finally:
        clock.cancel()
        process.kill()
        process.wait()
    if late.is_set():
        raise WorkspaceError(f"The search took longer than {SECONDS:.0f} s: narrow the path.")
    if process.returncode == 2 and not found:
        told = said.decode(errors="replace").strip().splitlines()
        raise WorkspaceError(f"{pattern!r} is no regular expression: {told[-1] if told else 'unknown error'}.")
    return at_most(found)


def _lines(process: "subprocess.Popen[bytes]", wanted: Callable[[str], bool]) -> Iterator[str]:
    for line in process.stdout or ():
        name, _, rest = line.decode(errors="replace").rstrip("\r\n").partition("\0")
        name = name.removeprefix("./")
        if (told := _NUMBERED.match(rest)) and wanted(name):
            number, sign = told.groups()
            yield f"{name}{sign}{number}{sign}{rest[told.end() :][:GREP_TEXT]}"
