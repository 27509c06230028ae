"""Somebody asks for something: who may, what it means, and the answer that shows at once."""

from dataclasses import asdict
from typing import Any

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from github.client.errors import Locked
from github.client.repository import RepositoryHandle
from github.repositories import config, queries
from github.threads import comments
from github.webhooks.mentions import Command
from github.webhooks.outcomes import Actor, Refused, Request, Subject, Where, Why
from loops.accounts.choice import CannotRun, choose
from loops.comments import answers
from loops.comments.update_comment import status_of
from loops.context import Loop
from loops.requests.buttons import subject_of_button
from loops.requests.decision import Decision
from loops.requests.labels import label_of
from loops.sessions import conversations
from loops.sessions.conversations import Ask, Topic
from loops.sessions.known_accounts import remember_installation, remember_person, remember_repository
from loops.store.leases import make_due
from loops.store.tables import Audit, Session

log = structlog.get_logger(__name__)

BUTTONS = {
    "stop": Command.STOP,
    "retry": Command.RETRY,
    "autofix-on": Command.AUTOFIX_ON,
    "autofix-off": Command.AUTOFIX_OFF,
}
OWN_TEXT = (Where.ISSUE, Where.PULL)


async def refuse(loop: Loop, refused: Refused) -> Decision:
    """Record why not; tell the person where that cannot start a loop and they may write."""
    if refused.answer and refused.subject is not None:
        repo = loop.github.repository(refused.repo.installation_id, refused.repo.id, refused.repo.full_name)
        if (await loop.access.of(repo, refused.actor.login, refused.actor.id)).may_write:
            key = f"refused:{refused.source.where}:{refused.source.id}"
            await comments.put_sticky(repo, refused.subject.number, key, refused.answer)
    return Decision("refused", refused.reason)


async def take_request(loop: Loop, guid: str, request: Request) -> Decision:
    """Check the person's right, show that we heard, and do what the mention says."""
    repo = loop.github.repository(request.repo.installation_id, request.repo.id, request.repo.full_name)
    if request.why is Why.LABELED and request.label.lower() != (await _label(loop, repo)).lower():
        return Decision("ignored", f"the label {request.label!r} is not ours")
    if not (await loop.access.of(repo, request.actor.login, request.actor.id)).may_write:
        await comments.react(repo, _number(request), request.source, comments.CONFUSED)
        return Decision("refused", f"{request.actor.login} has no write access to {request.repo.full_name}")
    await comments.react(repo, _number(request), request.source)
    subject = request.subject or await subject_of_button(loop, request)
    if subject is None:
        return Decision("ignored", "the check belongs to no conversation")
    mention, handle = request.mention, loop.me.names[0]
    command = _command(request)
    if mention.problems:
        await answer(repo, request, subject, answers.problems(mention.problems, handle))
        return Decision("answered", "; ".join(mention.problems))
    if command is Command.HELP:
        await answer(repo, request, subject, answers.help_text(handle))
        return Decision("answered", "help")
    if command in (Command.RUN, Command.RETRY):
        return await _run(loop, repo, guid, request, subject)
    return await _control(loop, repo, request, subject, command)


async def _label(loop: Loop, repo: RepositoryHandle) -> str:
    facts = await queries.facts(repo)
    loaded = await queries.settings(repo, facts.default_branch) if facts.default_branch else None
    return label_of(loop, loaded.config if loaded else None)


async def _control(
    loop: Loop, repo: RepositoryHandle, request: Request, subject: Subject, command: Command
) -> Decision:
    """`stop` and `status` act on the conversation that is there, `autofix on|off` also where there is none yet."""
    now = loop.clock()
    stopped = False
    async with loop.database.write() as tx:
        await remember_repository(tx, request.repo, now)
        topic = _topic(request, subject)
        session = await conversations.latest(tx, topic)
        if command is Command.STOP:
            stopped = session is not None and await conversations.cancel(tx, session, request.actor.login, now)
        elif command in (Command.AUTOFIX_ON, Command.AUTOFIX_OFF):
            on = command is Command.AUTOFIX_ON
            session = await conversations.switch_repairs(tx, topic, session, on=on, by=request.actor.login, now=now)
        if session is not None and session.trigger != conversations.NEVER_BEGUN:
            await make_due(tx, session.id, now)
        _audit(loop, tx, request, command.value, session)
    session_id = session.id if session else None
    if command is Command.STOP and stopped:
        return Decision("cancelled", command.value, session_id)
    if command in (Command.AUTOFIX_ON, Command.AUTOFIX_OFF):
        said = answers.repairs(command is Command.AUTOFIX_ON, loop.me.names[0])
    elif command is Command.STATUS and session is not None:
        said = await status_of(loop, session)
    else:
        said = answers.nothing_open(loop.me.names[0])
    await answer(repo, request, subject, said)
    return Decision("answered", command.value, session_id)


async def _run(loop: Loop, repo: RepositoryHandle, guid: str, request: Request, subject: Subject) -> Decision:
    if subject.is_pull and not subject.head_ref:
        pull = await queries.pull(repo, subject.number)
        subject = Subject(
            number=subject.number,
            is_pull=True,
            title=subject.title,
            body=subject.body,  # as delivered, also where it was empty: what stands there now may be newer
            author=Actor(pull.author_id, pull.author),
            head_ref=pull.head_ref,
            head_sha=pull.head_sha,
            head_repository_id=pull.head_repository_id,
            base_ref=pull.base_ref,
        )
    facts = await queries.facts(repo)
    loaded = await queries.settings(repo, facts.default_branch) if facts.default_branch else None
    cap = loop.options.cap
    if loaded is not None and "attempts" in loaded.config.limits.model_fields_set:
        cap = loaded.config.limits.attempts
    if loaded is not None and loaded.problems:
        listed = [str(problem) for problem in loaded.problems]
        await comments.put_sticky(repo, subject.number, "config", answers.config_problems(config.PATH, listed))
    wish = _ask(guid, request, subject)
    config_of = loaded.config.model_dump(mode="json", exclude_unset=True) if loaded is not None else None
    if (why := await _cannot_run(loop, request, _topic(request, subject), wish, config_of or {})) is not None:
        await answer(repo, request, subject, answers.cannot_run(why, loop.me.names[0]))
        return Decision("refused", why)
    now = loop.clock()
    async with loop.database.write() as tx:
        owner = Actor(facts.owner_id, facts.full_name.partition("/")[0])
        await remember_installation(tx, request.repo.installation_id, owner, now)
        await remember_repository(tx, request.repo, now, facts)
        await remember_person(tx, request.actor, now)
        session, what = await conversations.ask(
            tx, _topic(request, subject), wish, owner=request.actor.id, cap=cap, now=now
        )
        if config_of is not None and (session.config is None or what != "joined"):
            session.config = config_of
        _audit(loop, tx, request, what, session)
        wake = session.wake
    await loop.queue.send("advance", session.id, f"advance:{session.id}:{wake}:{what}")
    return Decision(what, request.why.value, session.id)


async def _cannot_run(loop: Loop, request: Request, topic: Topic, wish: Ask, config_of: dict[str, Any]) -> str | None:
    """Why the turn that is asked for could not run with the account it would get; None if it can."""
    async with loop.database.read() as tx:
        session = await conversations.latest(tx, topic)
        owner = request.actor.id if session is None else session.owner_id
        options = {**(session.options if session is not None else {}), **wish.options}
        try:
            tenant = request.repo.installation_id
            await choose(tx, tenant, owner, options=options, config=config_of, default=loop.options.runtime)
        except CannotRun as error:
            return str(error)
    return None


def _ask(guid: str, request: Request, subject: Subject) -> Ask:
    mention = request.mention
    options = {name: value for name, value in asdict(mention.options).items() if value is not None}
    source = {**asdict(request.source), "own_text": request.source.where in OWN_TEXT}
    review = request.why is Why.CHANGES_REQUESTED or request.source.where in (Where.REVIEW, Where.INLINE)
    kind = "review" if review else "pull" if subject.is_pull else "issue"
    return Ask(
        trigger=request.why.value,
        instruction=mention.instruction,
        kind=kind,
        by=request.actor.id,
        by_login=request.actor.login,
        own_text=request.source.where in OWN_TEXT,
        options=options,
        source=source,
        context={
            "number": subject.number,
            "title": subject.title,
            "body": subject.body,
            "author": subject.author.login if subject.author else "",
            "retry": _command(request) is Command.RETRY,
        },
        delivery=guid,
    )


def _topic(request: Request, subject: Subject) -> Topic:
    same = subject.is_pull and subject.head_repository_id == request.repo.id
    return Topic(
        installation_id=request.repo.installation_id,
        repository_id=request.repo.id,
        kind="pull" if subject.is_pull else "issue",
        number=subject.number,
        title=subject.title,
        base_branch=subject.base_ref or None,
        branch=subject.head_ref if same else None,
        head_sha=subject.head_sha if same else None,
        pull_number=subject.number if same else None,
        own_branch=not same,
        approved_sha=(subject.head_sha or None) if subject.is_pull and not same else None,
    )


def _command(request: Request) -> Command:
    if request.why is Why.BUTTON:
        return BUTTONS.get(request.button, Command.RETRY)
    if request.why is Why.RERUN:
        return Command.RETRY
    return request.mention.command


def _number(request: Request) -> int:
    return request.subject.number if request.subject else 0


async def answer(repo: RepositoryHandle, request: Request, subject: Subject, body: str) -> None:
    """Answer in a comment of its own; twice is once. In a locked conversation nobody can be answered."""
    key = f"answer:{request.source.where}:{request.source.id or subject.number}"
    try:
        await comments.put_sticky(repo, subject.number, key, body)
    except Locked as error:
        log.warning("request.unanswered", number=subject.number, error=str(error))


def _audit(loop: Loop, tx: AsyncSession, request: Request, action: str, session: Session | None) -> None:
    tx.add(
        Audit(
            at=loop.clock(),
            installation_id=request.repo.installation_id,
            session_id=session.id if session else None,
            actor=request.actor.login,
            surface="github",
            action=action,
            details={"why": request.why.value, "url": request.source.url},
        )
    )
