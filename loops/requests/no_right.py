"""The answer to somebody who may not ask: short, once for each thread and person, and so many an hour at most."""

from sqlalchemy import func, select

from github.client.repository import RepositoryHandle
from github.threads import comments
from github.webhooks.outcomes import Request
from loops.comments import answers
from loops.context import Loop
from loops.conversations.finding import lock
from loops.requests.replies import reply
from loops.sessions.known_accounts import remember_repository
from loops.store.tables import Audit

HOUR = 3600.0
_TOLD = "told who may ask: "


async def answer_no_right(loop: Loop, repo: RepositoryHandle, guid: str, request: Request) -> None:
    """React to the request, and say who may ask, where that was not said to this person here before."""
    number = request.subject.number if request.subject else 0
    await comments.react(repo, number, request.source, comments.CONFUSED)
    if number and await _first_here(loop, guid, request, number):
        said = answers.no_right(request.actor.login, loop.me.names[0])
        await reply(repo, number, f"no-right:{request.actor.id}", said)


async def _first_here(loop: Loop, guid: str, request: Request, number: int) -> bool:
    """Whether this delivery is the one that is answered: noted before, so that it is again after a crash."""
    action = f"{_TOLD}{request.repo.id}#{number} {request.actor.id}"
    now, tenant = loop.clock(), request.repo.installation_id
    async with loop.database.write() as tx:
        await remember_repository(tx, request.repo, now)
        await lock(tx, request.repo.id)
        told = (await tx.execute(select(Audit).where(Audit.action == action).limit(1))).scalar_one_or_none()
        if told is not None:
            return told.details.get("delivery") == guid
        lately = select(func.count()).where(
            Audit.installation_id == tenant, Audit.action.startswith(_TOLD), Audit.at > now - HOUR
        )
        if (await tx.execute(lately)).scalar_one() >= loop.options.no_right_answers:
            return False
        who = {"actor": request.actor.login, "surface": "github", "installation_id": tenant}
        tx.add(Audit(at=now, action=action, details={"delivery": guid, "url": request.source.url}, **who))
    return True
