"""`greenloop session`: start, look at, follow, try again, cancel and list sessions."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.common import one_line_errors
from loops.runtimes import registry

if TYPE_CHECKING:
    from app.commands.sessions.source import Sessions

session = typer.Typer(name="session", help="Start, follow, try again and cancel sessions.", no_args_is_help=True)

ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        envvar="GREENLOOP_SERVER",
        help="The server to ask, after `greenloop login URL`; by default the one logged in at last. Without any, and "
        'for "", it is the service\'s own database.',
    ),
]
InstallationOption = Annotated[int | None, typer.Option(help="Id of the installation, where there are several.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line instead of text.")]
IdArgument = Annotated[str, typer.Argument(metavar="SESSION", help="The session's id, s_….")]


@session.command()
def start(
    repository: Annotated[str, typer.Argument(metavar="REPOSITORY", help="owner/name, or GitHub's numeric id.")],
    instruction: Annotated[str, typer.Argument(metavar="INSTRUCTION", help="What is to be done.")],
    base: Annotated[str | None, typer.Option(help="Branch to begin from; by default the default branch.")] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, max=200, help="Model calls of one turn at most.")] = None,
    person: Annotated[
        str | None,
        typer.Option("--as", metavar="LOGIN", help="Whose box, account and write access are used; yours at a server."),
    ] = None,
    runtime: Annotated[str | None, typer.Option(help=f"{registry.choices()}.")] = None,
    model: Annotated[str | None, typer.Option(help="Model, as the runtime names it.")] = None,
    server: ServerOption = None,
    installation: InstallationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start a session; its id goes to standard output."""
    from loops.operations import StartRequest

    async def run(sessions: "Sessions") -> None:
        wish = StartRequest(repository, instruction, base, max_steps, person, runtime, model)
        name, status = await sessions.start(wish)
        print(json.dumps({"session": name, "status": status}) if as_json else name)

    _with_sessions(server, installation, run)


@session.command()
def show(
    identity: IdArgument,
    server: ServerOption = None,
    installation: InstallationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a session: its state, what it changed, what it took."""
    from app.commands.sessions.shown import page_of

    async def run(sessions: "Sessions") -> None:
        found = await sessions.get(identity, events=as_json)
        print(json.dumps(asdict(found), ensure_ascii=False) if as_json else page_of(found))

    _with_sessions(server, installation, run)


@session.command()
def watch(
    identity: IdArgument,
    server: ServerOption = None,
    installation: InstallationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Follow a session until it ends. The exit code is 0 when it was completed, 1 when it ended otherwise."""
    from app.commands.sessions.shown import line_of, state_of, terminal
    from loops.operations import Happened

    async def run(sessions: "Sessions") -> None:
        told = last = None
        async with aclosing(sessions.follow(identity)) as news:
            async for found in news:
                if isinstance(found, Happened):
                    print(json.dumps(asdict(found), ensure_ascii=False) if as_json else line_of(found), flush=True)
                    continue
                last = found
                if terminal() and not as_json and state_of(found) != told:
                    told = state_of(found)
                    print(told, flush=True)
        if last is None:
            raise ValueError(f"nothing was told of {identity}")
        if as_json:
            print(json.dumps({"status": last.status, "reason": last.reason}))
        elif told is None:
            print(state_of(last))
        raise typer.Exit(0 if last.status == "completed" else 1)

    _with_sessions(server, installation, run)


@session.command()
def cancel(
    identity: IdArgument,
    server: ServerOption = None,
    installation: InstallationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask for a session's end."""

    async def run(sessions: "Sessions") -> None:
        status, was_open = await sessions.cancel(identity)
        said = "cancel requested" if was_open else f"it had ended before: {status}"
        answer = {"session": identity, "status": status, "was_open": was_open}
        print(json.dumps(answer) if as_json else f"{identity}: {said}")

    _with_sessions(server, installation, run)


@session.command()
def retry(
    identity: IdArgument,
    instruction: Annotated[str, typer.Argument(metavar="[WORDS]", help="Words that are added to the task.")] = "",
    server: ServerOption = None,
    installation: InstallationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Try a session again: one more turn with the same task, at a server."""

    async def run(sessions: "Sessions") -> None:
        status = await sessions.retry(identity, instruction)
        print(json.dumps({"session": identity, "status": status}) if as_json else f"{identity}: {status}")

    _with_sessions(server, installation, run)


@session.command()
def diff(identity: IdArgument, server: ServerOption = None, installation: InstallationOption = None) -> None:
    """Print what a session changed, for `git apply` or a pager."""
    from app.commands.sessions.shown import terminal, visible

    async def run(sessions: "Sessions") -> None:
        text = await sessions.diff(identity)
        sys.stdout.write(visible(text) if terminal() else text)

    _with_sessions(server, installation, run)


@session.command("list")
def list_all(
    status: Annotated[
        str | None, typer.Option(help="pending, running, waiting, completed, failed or cancelled only.")
    ] = None,
    repository: Annotated[
        str | None, typer.Option(metavar="OWNER/NAME", help="Of this one; else, at a server, those that you asked for.")
    ] = None,
    person: Annotated[str | None, typer.Option("--by", metavar="LOGIN", help="Only those that they asked for.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="So many at most, newest first.")] = 30,
    server: ServerOption = None,
    installation: InstallationOption = None,
    as_json: JsonOption = False,
) -> None:
    """List sessions, newest first."""
    from app.commands.sessions.shown import row_of

    async def run(sessions: "Sessions") -> None:
        found = await sessions.listed(status=status, repository=repository, person=person, limit=limit)
        if not found:
            narrowed = status or repository or person
            print("there are no such sessions" if narrowed else "there are no sessions yet", file=sys.stderr)
        for each in found:
            print(json.dumps(asdict(each), ensure_ascii=False) if as_json else row_of(each))

    _with_sessions(server, installation, run)


def _with_sessions(server: str | None, installation: int | None, work: "Callable[[Sessions], Awaitable[None]]") -> None:
    from app.commands.sessions.source import opened_sessions

    async def run() -> None:
        async with opened_sessions(server, installation) as sessions:
            await work(sessions)

    with one_line_errors():
        asyncio.run(run())
