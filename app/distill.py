"""`greenloop distill`: what the agent would be shown of a failing job's log."""

import json
import sys
from collections.abc import Iterator
from typing import Annotated, BinaryIO

import typer


def distill(
    budget: Annotated[int, typer.Option(min=1, help="Bytes of the excerpt at most.")] = 16_000,
    failed_step: Annotated[
        list[str] | None, typer.Option(help="Name or command of a failed step; may be repeated.")
    ] = None,
    changed: Annotated[list[str] | None, typer.Option(help="A file of the change under test; may be repeated.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Kind, fingerprint, tests, diagnostics and line ranges too.")
    ] = False,
) -> None:
    """Read a job's log from standard input, write the excerpt to standard output."""
    from loops.evidence import distill as distilled
    from loops.redact import Redactor

    result = distilled(
        _chunks(sys.stdin.buffer),
        budget=budget,
        failed_steps=failed_step or (),
        changed_files=changed or (),
        redact=Redactor().text,
    )
    text = json.dumps(result.to_json(), ensure_ascii=False, indent=2) + "\n" if as_json else result.excerpt
    sys.stdout.buffer.write(text.encode(errors="replace"))


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(1 << 18):
        yield chunk
