"""Somebody asks for something: who may, and to whom each command goes."""

from github.apps.access import access_of
from github.client.repository import RepositoryHandle
from github.threads import comments
from github.threads.request_query import prefetch_request
from github.webhooks.commands import Approve, Autofix, Help, Retry, Run, Status, Stop, Unclear
from github.webhooks.outcomes import Declined, Request
from loops.comments import answers
from loops.context import Loop
from loops.requests.answered_before import WHY, answered_on_thread, answered_there, begins
from loops.requests.buttons import subject_of_button
from loops.requests.control import control
from loops.requests.decision import Decision
from loops.requests.labels import is_ours
from loops.requests.no_right import answer_no_right
from loops.requests.replies import answer
from loops.requests.run import run


async def take_request(loop: Loop, guid: str, request: Request) -> Decision:
    """Check the person's right, show that we heard, and have the command done."""
    repo = RepositoryHandle(loop.github, request.repo.installation_id, request.repo.id, request.repo.full_name)
    if request.label and not await is_ours(loop, repo, request.label):
        return Decision("ignored", f"the label {request.label!r} is not ours")
    if not (await access_of(repo, request.actor.login, request.actor.id)).may_write:
        await answer_no_right(loop, repo, guid, request)
        return Decision("refused", f"{request.actor.login} has no write access to {request.repo.full_name}")
    first = await begins(loop.database, guid)
    thread = request.subject if isinstance(request.command, Run) else None
    moment = await prefetch_request(repo, thread.number) if thread is not None else 0.0
    if first and await answered_on_thread(loop.database, repo, request, max_age=moment):
        return Decision("ignored", WHY)
    reacted = await comments.react(repo, request.subject.number if request.subject else 0, request.source)
    if first and answered_there(request, reacted):
        return Decision("ignored", WHY)
    subject = request.subject or await subject_of_button(loop.database, request)
    if subject is None:
        return Decision("ignored", "the check belongs to no conversation")
    match request.command:
        case Run() | Retry() | Approve() as command:
            return await run(loop, repo, guid, request, subject, command, max_age=moment)
        case Stop() | Status() | Autofix() as command:
            return await control(loop, repo, request, subject, command)
        case Help():
            await answer(repo, request, subject, answers.help_text(loop.me.names[0]))
            return Decision("answered", "help")
        case Unclear(problems):
            await answer(repo, request, subject, answers.problems(problems, loop.me.names[0]))
            return Decision("answered", "; ".join(problems))


async def decline(loop: Loop, declined: Declined) -> Decision:
    """Record why not; tell the person where that cannot start a loop and they may write."""
    repo = RepositoryHandle(loop.github, declined.repo.installation_id, declined.repo.id, declined.repo.full_name)
    if declined.label and not await is_ours(loop, repo, declined.label):
        return Decision("ignored", f"the label {declined.label!r} is not ours")
    subject, actor = declined.subject, declined.actor
    if declined.answer and subject and (await access_of(repo, actor.login, actor.id)).may_write:
        await answer(repo, declined, subject, declined.answer)
    return Decision("refused", declined.reason)
