"""`greenloop distill`: what the agent would be shown of a failing job's log."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Annotated, BinaryIO

import typer

CHUNK = 1 << 18
USAGE = "the log is read from standard input: greenloop distill < job.log"


def distill(
    more: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="With --changed: further files.", show_default=False)
    ] = None,
    budget: Annotated[int, typer.Option(min=1, help="Bytes of the excerpt at most.")] = 16_000,
    failed_step: Annotated[
        list[str] | None, typer.Option(help="Name or command of a failed step; may be repeated.")
    ] = None,
    changed: Annotated[
        list[str] | None, typer.Option(help="A file of the change under test; more may follow, or repeat it.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Kind, fingerprint, tests, diagnostics and line ranges too.")
    ] = False,
) -> None:
    """Read a job's log from standard input, write the excerpt to standard output."""
    if more and not changed:
        raise typer.BadParameter(f"{more[0]!r}: {USAGE}")
    if sys.stdin is None or sys.stdin.isatty():
        raise typer.BadParameter(USAGE)
    from loops.evidence import distill as distilled
    from loops.redact import Redactor

    result = distilled(
        _chunks(sys.stdin.buffer),
        budget=budget,
        failed_steps=failed_step or (),
        changed_files=[*(changed or ()), *(more or ())],
        redact=Redactor().text,
    )
    text = json.dumps(result.to_json(), ensure_ascii=False, indent=2) + "\n" if as_json else result.excerpt
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
