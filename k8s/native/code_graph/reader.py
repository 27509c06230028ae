"""Sources are read in a process of its own: a file made for it keeps a parser busy for hours, or crashes it."""

import json
import select
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO

from k8s.native.code_graph.languages import BY_ENDING, Tag, read_tags

SECONDS = 5.0
"""That one file may take."""
_START_SECONDS = 60.0


class Reader:
    """Reads files below `root`. The process begins with the first, ends with `close`, and is made anew after a file
    that it did not survive.
    """

    def __init__(self, root: Path, *, seconds: float = SECONDS) -> None:
        self._root = root
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def tags(self, path: str) -> tuple[Tag, ...]:
        """What a file defines, uses and imports; nothing for one that cannot be read in time. Raises OSError where no
        process can be started.
        """
        if self._process is None:
            argv = [sys.executable, "-P", "-m", "k8s.native.code_graph.reader"]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(argv, cwd=self._root, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
            self._answer(self._process, _START_SECONDS)
        line = self._asked(self._process, path)
        if not line:
            self.close()
            return ()
        return tuple(Tag(*each) for each in json.loads(line))

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _asked(self, process: "subprocess.Popen[bytes]", path: str) -> bytes:
        try:
            if process.stdin is not None:
                process.stdin.write(json.dumps(path).encode() + b"\n")
                process.stdin.flush()
            return self._answer(process, self._seconds)
        except BrokenPipeError:
            return b""

    def _answer(self, process: "subprocess.Popen[bytes]", seconds: float) -> bytes:
        """One line; empty where the process has ended, or takes longer."""
        if process.stdout is None or not select.select([process.stdout], [], [], seconds)[0]:
            return b""
        return process.stdout.readline()


def serve(paths: Iterable[bytes], answers: IO[bytes]) -> None:
    """Answer each path, a line of JSON, with its tags, after an empty line that says that all is loaded."""
    answers.write(b"\n")
    answers.flush()
    for line in paths:
        path = json.loads(line)
        spoken = BY_ENDING[PurePosixPath(path).suffix]
        try:
            found = read_tags(spoken, Path(path).read_bytes())
        except OSError:
            found = []
        answers.write(json.dumps([[tag.kind, tag.name, tag.line] for tag in found]).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
