"""`greenloop session`: start, look at, follow, cancel and list sessions, on the service's own database."""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.common import one_line_errors, opened
from loops.runtimes import registry

if TYPE_CHECKING:
    from app.settings import Settings
    from loops.operations import Brief, Shown
    from loops.store.database import Database

SURFACE = "cli"
WATCH_SECONDS = 0.5
ENDED = ("completed", "failed", "cancelled")

session = typer.Typer(name="session", help="Start, follow and cancel sessions.", no_args_is_help=True)

InstallationOption = Annotated[int | None, typer.Option(help="Id of the installation, where there are several.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")]
IdArgument = Annotated[str, typer.Argument(metavar="SESSION", help="The session's id, s_….")]


@session.command()
def start(
    repository: Annotated[str, typer.Argument(metavar="REPOSITORY", help="owner/name, or GitHub's numeric id.")],
    instruction: Annotated[str, typer.Argument(metavar="INSTRUCTION", help="What is to be done.")],
    base: Annotated[str | None, typer.Option(help="Branch to begin from; by default the default branch.")] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, max=200, help="Model calls of one turn at most.")] = None,
    person: Annotated[
        str | None, typer.Option("--as", metavar="LOGIN", help="Whose box, account and write access are used.")
    ] = None,
    runtime: Annotated[str | None, typer.Option(help=f"{registry.choices()}.")] = None,
    model: Annotated[str | None, typer.Option(help="Model, as the runtime names it.")] = None,
    installation: InstallationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start a session; its id goes to standard output."""
    from loops import operations

    async def run(settings: "Settings", database: "Database") -> None:
        wish = operations.StartRequest(repository, instruction, base, max_steps, person, runtime, model)
        async with database.write() as tx:
            tenant = await operations.tenant_of(tx, installation)
            done = await operations.start(tx, tenant, wish, surface=SURFACE, cap=settings.cap, now=time.time())
        await _wake(settings)
        print(json.dumps({"session": done.session, "status": done.status}) if as_json else done.session)

    _with_database(run)


@session.command()
def show(identity: IdArgument, installation: InstallationOption = None, as_json: JsonOption = False) -> None:
    """Show a session: its state, what it changed, what it took."""
    from loops import operations

    async def run(settings: "Settings", database: "Database") -> None:
        async with database.read() as tx:
            tenant = await operations.tenant_of(tx, installation)
            found = await operations.get(tx, tenant, identity, events=as_json)
        print(json.dumps(asdict(found), ensure_ascii=False) if as_json else _page(found))

    _with_database(run)


@session.command()
def watch(identity: IdArgument, installation: InstallationOption = None, as_json: JsonOption = False) -> None:
    """Follow a session until it ends. The exit code is 0 when it was completed, 1 when it ended otherwise."""
    from loops import operations

    async def run(settings: "Settings", database: "Database") -> None:
        seen = 0
        while True:
            async with database.read() as tx:
                tenant = await operations.tenant_of(tx, installation)
                found = await operations.get(tx, tenant, identity, after=seen)
            for event in found.events:
                seen = event.seq
                print(
                    json.dumps(asdict(event), ensure_ascii=False) if as_json else _line(event.kind, event.payload),
                    flush=True,
                )
            if found.status in ENDED and not found.events:
                print(json.dumps({"status": found.status, "reason": found.reason}) if as_json else _state(found))
                raise typer.Exit(0 if found.status == "completed" else 1)
            if not found.events:
                await asyncio.sleep(WATCH_SECONDS)

    _with_database(run)


@session.command()
def cancel(identity: IdArgument, installation: InstallationOption = None, as_json: JsonOption = False) -> None:
    """Ask for a session's end."""
    from loops import operations

    async def run(settings: "Settings", database: "Database") -> None:
        async with database.write() as tx:
            tenant = await operations.tenant_of(tx, installation)
            done = await operations.cancel(tx, tenant, identity, by=SURFACE, surface=SURFACE, now=time.time())
        if done.was_open:
            await _wake(settings)
        said = "cancel requested" if done.was_open else f"it had ended before: {done.status}"
        answer = {"session": done.session, "status": done.status, "was_open": done.was_open}
        print(json.dumps(answer) if as_json else f"{done.session}: {said}")

    _with_database(run)


@session.command("list")
def list_all(
    status: Annotated[
        str | None, typer.Option(help="pending, running, waiting, completed, failed or cancelled only.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="So many at most, newest first.")] = 30,
    installation: InstallationOption = None,
    as_json: JsonOption = False,
) -> None:
    """List sessions, newest first."""
    from loops import operations

    async def run(settings: "Settings", database: "Database") -> None:
        async with database.read() as tx:
            tenant = await operations.tenant_of(tx, installation)
            meant = operations.Listing(tenant, status=status)
            found = [each.brief for each in await operations.list_sessions(tx, meant, limit=limit)]
        if not found:
            print("there are no such sessions" if status else "there are no sessions yet", file=sys.stderr)
        for each in found:
            print(json.dumps(asdict(each), ensure_ascii=False) if as_json else _row(each))

    _with_database(run)


def _with_database(work: "Callable[[Settings, Database], Coroutine[Any, Any, None]]") -> None:
    """Run `work(settings, database)`."""
    from app.settings import Settings

    async def run(settings: Settings) -> None:
        async with opened(settings) as database:
            await work(settings, database)

    with one_line_errors():
        asyncio.run(run(Settings()))


async def _wake(settings: "Settings") -> None:
    """Tell the workers at once where Redis is known; they find the session anyway."""
    from loops.store.bus import WORK, Bus

    if settings.redis_url:
        bus = Bus(settings.redis_url)
        bus.notify(WORK)
        await bus.close()


def _state(found: "Brief") -> str:
    return f"{found.session} {found.status}" + "".join(f", {each}" for each in (_end(found),) if each)


def _end(found: "Brief") -> str:
    """How it ended, in a few words."""
    return found.explanation.title if found.explanation else (found.outcome or found.reason or "").replace("_", " ")


def _row(found: "Brief") -> str:
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.created_at))
    return f"{found.session}  {at}  {found.status:<9}  {_end(found):<22}  {found.repository}  {found.title[:60]}"


def _page(found: "Shown") -> str:
    use = found.usage
    why = found.explanation
    lines = [
        _state(found),
        *([f"why          {why.what}", f"next         {why.next}"] if why else []),
        *([f"operator     {why.operator}"] if why and why.operator else []),
        f"repository   {found.repository}",
        f"asked        {found.title}" + (f" (as {found.person})" if found.person else ""),
        f"branch       {found.branch or '-'} from {found.base_branch or 'the default branch'}",
        f"pull request {found.pull_request or '-'}",
        f"turns        {use.turns}, {use.input_tokens + use.output_tokens} tokens, ${use.cost:.2f}",
        f"tokens       {use.input_tokens} in ({use.cached_tokens} cached), "
        f"{use.output_tokens} out ({use.reasoning_tokens} of reasoning)",
        f"stored       {found.stored_bytes:,} bytes",
        *(f"note         {note}" for note in found.notes),
    ]
    if found.changed_files:
        lines.append("changed      " + ", ".join(_name(each) for each in found.changed_files))
    if found.summary:
        lines += ["", found.summary]
    return "\n".join(lines)


def _name(changed: Any) -> str:
    return str(changed.get("path", "")) if isinstance(changed, dict) else str(changed)


def _line(kind: str, payload: dict[str, Any]) -> str:
    text = payload.get("text") or payload.get("name") or payload.get("reason") or ""
    return f"{kind:<20} {text}".rstrip()
