"""Which runtime a turn gets, and what its box is told. What cannot run is said at once, in words."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import or_, select

from loops import profiles
from loops.box_secrets import CannotPrepare
from loops.context import Loop
from loops.credentials import credential_of, file_to_json, kind_of, request_to_json
from loops.runtimes import registry
from loops.runtimes.base import Credential, Resume, Runtime, TurnRequest
from loops.steps.env import Wanted
from loops.steps.start import Start
from loops.tables import Profile, Repository, Session, Turn


class CannotRun(Exception):
    """The turn's runtime cannot be had; the message is for the person who asked."""

    def __init__(self, message: str, reason: str = "credentials") -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Chosen:
    """The runtime of a turn, and the account it is run with (None: a program that needs none)."""

    runtime: Runtime
    model: str
    profile: Profile | None = None


async def runtime_of(loop: Loop, session: Session) -> Chosen:
    """The runtime asked for, else the repository's, else the profile's first. Raises CannotRun."""
    config = session.config or {}
    requested, configured = session.options.get("runtime"), config.get("runtime")
    model = str(session.options.get("model") or config.get("model") or "")
    profile = await profile_of(loop, session)
    try:
        if profile is None:
            name, _ = profiles.canonical(str(requested or configured or loop.options.runtime))
            runtime = registry.get(name)
        else:
            account = profiles.Profile(
                profile.provider,
                kind_of(profile),
                profile.model or "",
                profile.base_url or "",
            )
            choice = profiles.resolve(account, requested=requested, configured=configured)
            runtime = registry.get(choice.runtime)
    except (registry.UnknownRuntimeError, profiles.RefusedRuntimeError, CannotPrepare) as error:
        raise CannotRun(str(error)) from None
    if runtime.name == profiles.WITHOUT_ACCOUNT:
        return Chosen(runtime, model)
    if profile is None:
        raise CannotRun(
            f'The "{runtime.name}" runtime needs a provider account, and neither you nor this installation has one. '
            "Add one with `greenloop profile add`."
        )
    return Chosen(runtime, model or profile.model or "", profile)


async def profile_of(loop: Loop, session: Session) -> Profile | None:
    """The owner's own default account, else the installation's."""
    async with loop.database.read() as tx:
        found = await tx.execute(
            select(Profile)
            .where(Profile.installation_id == session.installation_id)
            .where(or_(Profile.person_id.is_(None), Profile.person_id == session.owner_id))
            .order_by(Profile.person_id.is_(None), Profile.is_default.desc(), Profile.id)
            .limit(1)
        )
        return found.scalar_one_or_none()


def spec_of(
    loop: Loop,
    chosen: Chosen,
    prompt: str,
    repository: Repository,
    start: Start,
    session: Session,
    turn: Turn,
    wanted: Wanted | None,
    limits: dict[str, Any],
) -> dict[str, Any]:
    """What the box is told, in the shape of the runner's protocol, without secrets; `request` makes them at hand-out.

    Raises CannotRun when the runtime cannot make a command of it.
    """
    profile = chosen.profile
    try:
        request = TurnRequest(
            prompt=prompt,
            session=session.public_id,
            model=chosen.model,
            provider=profile.provider if profile else "",
            base_url=(profile.base_url or "") if profile else "",
            credential=credential_of(profile, loop.vault) if profile else Credential(),
            resume=_resume(session, chosen.runtime.name),
            max_steps=limits["steps_left"],
            max_cost=limits["cost_left"],
            program=loop.options.command if chosen.runtime.name == profiles.WITHOUT_ACCOUNT else "",
        )
        invocation = chosen.runtime.command(request)
    except (ValueError, CannotPrepare) as error:
        raise CannotRun(str(error)) from None
    return {
        "request": request_to_json(request),
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
            for name in turn.context.get("logs") or ()
        ],
        "env_file": wanted.spec() if wanted else None,
    }


def _resume(session: Session, runtime: str) -> Resume | None:
    kept = session.resume.get(runtime)
    return Resume(kept["id"], kept["cwd"], kept.get("totals") or {}) if kept else None
