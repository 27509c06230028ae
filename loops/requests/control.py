"""`stop`, `status` and `autofix`: what acts on a conversation and starts no agent."""

from github.client.repository import RepositoryHandle
from github.webhooks.commands import Autofix, Status, Stop
from github.webhooks.outcomes import Request, Subject
from loops.comments import answers
from loops.comments.update_comment import status_of
from loops.context import Loop
from loops.conversations.cancelling import cancel
from loops.conversations.finding import latest_to_change
from loops.conversations.watching import switch_repairs
from loops.requests.conversion import topic_of
from loops.requests.decision import Decision
from loops.requests.replies import answer, audit
from loops.sessions.known_accounts import remember_repository
from loops.store.leases import make_due
from loops.store.states import Trigger


async def control(
    loop: Loop, repo: RepositoryHandle, request: Request, subject: Subject, command: Stop | Status | Autofix
) -> Decision:
    """Act on the conversation that is there; `autofix` also where there is none yet."""
    now, by = loop.clock(), request.actor.login
    topic = topic_of(request.repo, subject)
    stopped = False
    async with loop.database.write() as tx:
        await remember_repository(tx, request.repo, now)
        session = await latest_to_change(tx, topic)
        match command:
            case Stop():
                stopped = session is not None and await cancel(tx, session, by, now)
            case Autofix(on):
                session = await switch_repairs(tx, topic, session, on=on, by=by, now=now)
            case Status():
                pass
        if session is not None and session.trigger is not Trigger.AUTOFIX:
            await make_due(tx, session.id, now)
        audit(loop.clock, tx, request, command.name, session)
    session_id = session.id if session else None
    match command:
        case Stop() if stopped:
            return Decision("cancelled", command.name, session_id)
        case Autofix(on):
            said = answers.repairs(on, loop.me.names[0])
        case Status() if session is not None:
            said = await status_of(loop, session)
        case _:
            said = answers.nothing_open(loop.me.names[0])
    await answer(repo, request, subject, said)
    return Decision("answered", command.name, session_id)
