"""`Run`, `Retry` and `Approve`: one more turn in a conversation, where what is known now does not speak against it."""

from dataclasses import replace
from typing import Any

from github.client.repository import RepositoryHandle
from github.repositories import config, queries
from github.threads import comments
from github.webhooks.commands import Approve, Retry, Run
from github.webhooks.outcomes import Actor, Request, Subject
from loops.accounts.choice import CannotRun, choose
from loops.comments import answers
from loops.comments.broken_config import broken_config
from loops.context import Loop
from loops.conversations.asking import AskOutcome, take
from loops.conversations.finding import latest
from loops.conversations.retrying import repeated
from loops.options import LoopOptions
from loops.requests.conversion import ask_of_request, topic_of, whole_subject
from loops.requests.decision import Decision
from loops.requests.replies import answer, audit
from loops.sessions.ask import Ask
from loops.sessions.ask_columns import options_json
from loops.sessions.known_accounts import remember_installation, remember_person, remember_repository
from loops.store.bus import WORK
from loops.store.database import Database


async def run(
    loop: Loop,
    repo: RepositoryHandle,
    guid: str,
    request: Request,
    subject: Subject,
    command: Run | Retry | Approve,
    *,
    max_age: float = 0.0,
) -> Decision:
    """Begin a conversation or go on with it, or say why not. What this step was told within the last `max_age` seconds
    will do."""
    subject = await whole_subject(repo, subject)
    topic = topic_of(request.repo, subject)
    if isinstance(command, Approve):
        if topic.approved_sha is None:
            await answer(repo, request, subject, answers.nothing_to_approve(loop.me.names[0]))
            return Decision("answered", "nothing to approve")
        # of another commit than was named nothing is approved: it is asked anew
        topic = replace(topic, approves=topic.approved_sha.startswith(command.commit))
    ask = await ask_of_request(repo, loop.me, guid, request, subject, command)
    if not isinstance(command, Run):
        async with loop.database.read() as tx:
            again = await repeated(tx, await latest(tx, topic), ask)
        if again is None:
            await answer(repo, request, subject, answers.nothing_to_repeat(loop.me.names[0]))
            return Decision("answered", "nothing to repeat")
        ask = again
    facts = await queries.facts(repo, max_age=queries.SOON)
    loaded = await queries.settings(repo, max_age=max_age)
    cap = loop.options.cap
    if "attempts" in loaded.config.limits.model_fields_set:
        cap = loaded.config.limits.attempts
    if loaded.problems:
        listed = [str(problem) for problem in loaded.problems]
        await comments.put_sticky(repo, subject.number, "config", broken_config(config.PATH, listed))
    settings = loaded.config.model_dump(mode="json", exclude_unset=True)
    if (why := await _cannot_run(loop.database, loop.options, ask, topic.installation_id, settings)) is not None:
        await answer(repo, request, subject, answers.cannot_run(why, loop.me.names[0]))
        return Decision("refused", why)
    now = loop.clock()
    async with loop.database.write() as tx:
        owner = Actor(facts.owner_id, facts.full_name.partition("/")[0])
        await remember_installation(tx, request.repo.installation_id, owner, now)
        await remember_repository(tx, request.repo, now, facts)
        await remember_person(tx, request.actor, now)
        session, taken = await take(tx, topic, ask, owner=ask.asker.id, cap=cap, now=now)
        if session.config is None or taken is not AskOutcome.JOINED:
            session.config = settings
        audit(loop.clock, tx, request, taken.value, session)
    loop.bus.notify(WORK)
    return Decision(taken.value, request.why.value, session.id)


async def _cannot_run(
    database: Database, options: LoopOptions, ask: Ask, installation: int, settings: dict[str, Any]
) -> str | None:
    """Why the turn that is asked for could not run with the account of who asks; None if it can."""
    async with database.read() as tx:
        try:
            await choose(
                tx,
                installation,
                ask.asker.id,
                options=options_json(ask.options),
                config=settings,
                default=options.runtime,
            )
        except CannotRun as error:
            return str(error)
    return None
