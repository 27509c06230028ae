"""Which runtime a turn gets, and what its box is told. What cannot run is said at once, in words."""

from typing import Any

from loops.accounts.box_secrets import CannotPrepare
from loops.accounts.choice import CannotRun, Chosen, choose
from loops.accounts.credentials import credential_of, file_to_json, request_to_json
from loops.context import Loop
from loops.prompts.render import VERSION
from loops.runtimes.base import Credential, Resume, TurnRequest
from loops.sessions.agent_conversation import conversation_of
from loops.sessions.ask import RedChecks
from loops.sessions.ask_columns import ask_of, options_json
from loops.store.tables import Repository, Session, Turn
from loops.turns.preparing.env import Wanted
from loops.turns.preparing.start import StartingPoint


async def runtime_of(loop: Loop, session: Session, turn: Turn) -> Chosen:
    """The turn's runtime and account. Raises CannotRun."""
    async with loop.database.read() as tx:
        return await choose(
            tx,
            session.installation_id,
            turn.owner_id,
            options=options_json(ask_of(turn).options),
            config=session.config or {},
            default=loop.options.runtime,
            now=loop.clock(),
        )


def spec_of(
    loop: Loop,
    chosen: Chosen,
    prompt: str,
    repository: Repository,
    start: StartingPoint,
    session: Session,
    turn: Turn,
    wanted: Wanted | None,
    limits: dict[str, Any],
) -> dict[str, Any]:
    """What the box is told, in the shape of the runner's protocol, without secrets; `request` makes them at hand-out.

    Raises CannotRun when the runtime cannot make a command of it.
    """
    profile, about = chosen.profile, ask_of(turn).about
    try:
        request = TurnRequest(
            prompt=prompt,
            session=session.public_id,
            model=chosen.model,
            provider=profile.provider if profile else "",
            base_url=(profile.base_url or "") if profile else "",
            credential=credential_of(profile, loop.vault) if profile else Credential(),
            resume=_resume(session, turn, chosen.runtime.name),
            max_steps=limits["steps_left"],
            max_cost=limits["cost_left"],
            program=loop.options.command if not chosen.runtime.needs_account else "",
        )
        invocation = chosen.runtime.command(request)
    except (ValueError, CannotPrepare) as error:
        raise CannotRun(str(error)) from None
    return {
        "request": request_to_json(request),
        "prompt_version": VERSION,
        "repository": {
            "id": repository.id,
            "full_name": repository.full_name,
            "sha": start.sha,
            "ref": start.ref,
            "branch": start.branch,
            "fetch": True,
            "merge": {"ref": start.merge[0], "sha": start.merge[1]} if start.merge else None,
        },
        "workdir": f"Code/{repository.full_name}/{start.branch}",
        "argv": list(invocation.argv),
        "env": dict(invocation.env),
        "stdin": invocation.stdin,
        "files": [file_to_json(file) for file in invocation.files if not file.secret],
        "evidence": [
            {"path": f"logs/{name}", "url": f"/turns/{turn.public_id}/evidence/{name}"}
            for name in (about.logs if isinstance(about, RedChecks) else ())
        ],
        "env_file": wanted.spec() if wanted else None,
    }


def _resume(session: Session, turn: Turn, runtime: str) -> Resume | None:
    kept = conversation_of(session, turn, runtime)
    return Resume(kept["id"], kept["cwd"], kept.get("totals") or {}) if kept else None
