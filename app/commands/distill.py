"""`greenloop distill`: what the agent would be shown of a failing job's log."""

import sys
from typing import Annotated

import typer

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
    from app.commands.excerpt import excerpt

    excerpt(
        budget=budget,
        failed_steps=failed_step or (),
        changed_files=[*(changed or ()), *(more or ())],
        as_json=as_json,
    )
