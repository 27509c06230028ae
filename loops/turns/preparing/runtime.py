"""Which runtime a turn gets, and what its box is told. What cannot run is said at once, in words."""

from collections.abc import Sequence
from typing import Any

from loops.accounts.box_secrets import CannotPrepare
from loops.accounts.choice import CannotRun, Chosen, choose
from loops.accounts.credentials import credential_of, file_to_json, kind_of, request_to_json
from loops.accounts.model_tokens import stand_in
from loops.context import Loop
from loops.gateway.endpoints import base_url
from loops.gateway.upstreams import base_of
from loops.options import LoopOptions
from loops.prompts.render import VERSION
from loops.runtimes.base import Resume, TurnRequest
from loops.runtimes.profiles import login_of
from loops.sessions.agent_conversation import conversation_of
from loops.sessions.ask import RedChecks
from loops.sessions.ask_columns import ask_of, options_json
from loops.store.tables import Profile, Repository, Session, Turn
from loops.turns.preparing import unfinished_work
from loops.turns.preparing.env import Wanted
from loops.turns.preparing.images import Image
from loops.turns.preparing.prompting import Told
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
    told: Told,
    repository: Repository,
    start: StartingPoint,
    session: Session,
    turn: Turn,
    wanted: Wanted | None,
    limits: dict[str, Any],
    verification: dict[str, Any] | None = None,
    images: Sequence[Image] = (),
) -> dict[str, Any]:
    """What the box is told, in the shape of the runner's protocol, without secrets; `request` makes them at hand-out.

    Raises CannotRun when the runtime cannot make a command of it.
    """
    about = ask_of(turn).about
    try:
        request = TurnRequest(
            prompt=told.text,
            session=session.public_id,
            model=chosen.model,
            **(_account(loop, chosen, chosen.profile, turn) if chosen.profile else {}),
            resume=_resume(session, turn, chosen.runtime.name),
            max_steps=limits["steps_left"],
            max_cost=limits["cost_left"],
            images=tuple(image.path for image in images),
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
        "conversation": list(invocation.conversation),
        "files": [file_to_json(file) for file in (*told.files, *invocation.files) if not file.secret],
        "evidence": [
            {"path": f"logs/{name}", "url": f"/turns/{turn.public_id}/evidence/{name}"}
            for name in (
                *(about.logs if isinstance(about, RedChecks) else ()),
                *((unfinished_work.NAME,) if told.left_work else ()),
                *(image.name for image in images),
            )
        ],
        "env_file": wanted.spec() if wanted else None,
        "verification": verification,
        "work_seconds": loop.options.work_seconds,
    }


def _account(loop: Loop, chosen: Chosen, profile: Profile, turn: Turn) -> dict[str, Any]:
    """The part of the request that says with what account. In a box the model gateway stands for it.

    Raises CannotRun, and CannotPrepare for a secret that cannot be read: here it is said before a box starts.
    """
    credential = credential_of(profile, loop.vault)
    custom, calls = profile.base_url or "", chosen.runtime.calls
    if calls is None or in_box(profile, loop.options):
        own = {"provider": profile.provider, "base_url": custom, "credential": credential}
        return own if chosen.runtime.needs_account else {}
    wire = calls.wires(profile.provider, bool(custom))[0]
    if not custom and base_of(profile.provider, credential.kind, wire) is None:
        if not chosen.runtime.needs_account:
            return {}
        raise CannotRun(f'Nobody knows where "{profile.provider}" answers: its account needs an endpoint (--base-url).')
    return {
        "provider": profile.provider,
        "base_url": base_url(loop.service_url, turn.public_id, wire),
        "relay": "custom" if custom else "provider",
        "credential": stand_in(credential.kind, ""),
    }


def in_box(profile: Profile, options: LoopOptions) -> bool:
    """Whether the account's own login is put into boxes, because whoever runs the service wants it."""
    login = login_of(kind_of(profile))
    return options.box_logins and login is not None and bool(login.token_url)


def _resume(session: Session, turn: Turn, runtime: str) -> Resume | None:
    kept = conversation_of(session, turn, runtime)
    return Resume(kept["id"], kept["cwd"], kept.get("totals") or {}) if kept else None
