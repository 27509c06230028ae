"""A job's log on standard input, what the agent would be shown of it on standard output."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from loops.evidence import BUDGET, distill
from loops.secrets.redact import Redactor

CHUNK = 1 << 18


def excerpt(
    *,
    budget: int = BUDGET,
    failed_steps: Sequence[str] = (),
    changed_files: Sequence[str] = (),
    as_json: bool = False,
) -> None:
    """Distil the log within `budget` bytes; as text, or as JSON with all that is known."""
    result = distill(
        _chunks(sys.stdin.buffer),
        budget=budget,
        failed_steps=failed_steps,
        changed_files=changed_files,
        redact=Redactor().text,
    )
    text = result.excerpt
    if as_json:
        import json

        text = json.dumps(result.to_json(), ensure_ascii=False, indent=2) + "\n"
    _write(text.encode(errors="replace"))


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK):
        yield chunk


def _write(raw: bytes) -> None:
    """A reader that has seen enough (`| head -1`) is no error."""
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
        return
    # the interpreter flushes once more when it ends
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
