"""A hint that checks of a commit changed: whoever watches it looks again, and a red one may begin a session."""

from sqlalchemy import select, update

from github.apps.access import access_of
from github.client.repository import RepositoryHandle
from github.repositories import queries
from github.repositories.config import PATH, RepositoryConfig
from github.repositories.queries import Pull
from github.webhooks.outcomes import Actor, Hint, LifecycleEvent
from loops.checks.merge_queue import is_queued_anew, went_red_in_queue
from loops.comments.broken_config import broken_config
from loops.context import Loop
from loops.conversations.finding import Topic, lock
from loops.conversations.watching import watch, watch_again
from loops.deliveries.late_checks import is_red, nothing_red, take_late
from loops.deliveries.triage import nobody_waits
from loops.requests.decision import Decision
from loops.requests.labels import is_among, label_of
from loops.sessions.known_accounts import remember_installation, remember_person, remember_repository
from loops.store.leases import make_due
from loops.store.locking import locked
from loops.store.states import OPEN_SESSION, SessionStatus, SubjectKind, Trigger
from loops.store.tables import Session

QUEUE = "red checks in a merge queue"
DEBOUNCE = 0.3  # seconds; suites, runs and checks of one push report within a moment of each other


async def take_hint(loop: Loop, hint: Hint) -> Decision:
    """Wake the sessions that wait for this commit; else see whether its failure is of work that had ended well, or one
    that we repair unasked."""
    now = loop.clock()
    async with loop.database.write() as tx:
        found = await tx.execute(
            select(Session.id).where(
                Session.repository_id == hint.repo.id, Session.head_sha == hint.sha, Session.status.in_(OPEN_SESSION)
            )
        )
        watching = list(found.scalars())
        for session_id in watching:
            await tx.execute(update(Session).where(Session.id == session_id).values(hint_at=now))
            await make_due(tx, session_id, now + DEBOUNCE)
    if watching:
        return Decision("hint", hint.source, watching[0])
    repo = _handle(loop, hint)
    if hint.queued_pull:
        return await _take_queued(loop, repo, hint)
    if late := await take_late(loop, repo, hint):
        return late
    if not hint.failed:
        return nobody_waits(hint.sha)
    return await _unasked(loop, repo, hint)


async def take_opened(loop: Loop, news: LifecycleEvent) -> Decision:
    """A pull request was opened: its head may have gone red before, and no event will say so again."""
    noted, subject = Decision("noted", news.change.value), news.subject
    if news.repo is None or subject is None or subject.head_repository_id != news.repo.id:
        return noted
    opened = Hint(news.repo, subject.head_sha, "pull_request", subject.head_ref, (subject.number,))
    decision = await _unasked(loop, _handle(loop, opened), opened)
    return decision if decision.session_id is not None else noted


def _handle(loop: Loop, hint: Hint) -> RepositoryHandle:
    return RepositoryHandle(loop.github, hint.repo.installation_id, hint.repo.id, hint.repo.full_name)


async def _take_queued(loop: Loop, repo: RepositoryHandle, hint: Hint) -> Decision:
    """A pull request is red where a merge queue merged it with its base: that is repaired on the pull request."""
    pull = await queries.pull(repo, hint.queued_pull)
    if pull.state != "open" or pull.from_fork:
        return Decision("ignored", f"#{pull.number} is no open pull request of this repository's own")
    if await is_queued_anew(repo, pull.base_ref, pull.number, hint.sha):
        return Decision("ignored", f"a merge queue has tried #{pull.number} again since")
    checks = (await queries.settings(repo)).config.checks
    if not await is_red(loop.clock, loop.me, repo, hint.sha, pull.base_ref, checks):
        return nothing_red(hint.sha)
    now = loop.clock()
    async with loop.database.write() as tx:
        await lock(tx, repo.id)
        where = (Session.repository_id == repo.id, Session.pull_number == pull.number)
        known = (await tx.execute(select(Session.id).where(*where).order_by(Session.id.desc()).limit(1))).scalar()
        session = await locked(tx, Session, known) if known is not None else None
        group = (session.merge_group if session else None) or {}
        if group.get("sha") == hint.sha and group.get("head") != pull.head_sha:
            return Decision("ignored", f"what failed in the merge queue is not the head of #{pull.number} any more")
        if session is not None and session.head_sha == pull.head_sha and _watches_queue(session):
            went_red_in_queue(session, hint.sha, pull.head_sha)
            if session.status is SessionStatus.WAITING:
                session.hint_at = now
                await make_due(tx, session.id, now + DEBOUNCE)
            else:
                await watch_again(tx, session, now)
            return Decision("started", QUEUE, session.id)
    return await _unasked(loop, repo, hint, pull)


def _watches_queue(session: Session) -> bool:
    """Whether the session is there for what becomes of its head: it waits, or ended well and may repair."""
    ended_well = session.status is SessionStatus.COMPLETED and session.options.get("autofix") is not False
    return session.status is SessionStatus.WAITING or (ended_well and session.trigger is not Trigger.CHECKS)


async def _unasked(loop: Loop, repo: RepositoryHandle, hint: Hint, queued: Pull | None = None) -> Decision:
    """A red commit that no session is about; `queued` is the pull request that a merge queue made it of."""
    facts = await queries.facts(repo, max_age=queries.SOON)
    loaded = await queries.settings(repo)
    found = await _topic(loop, repo, hint, loaded.config, facts.default_branch, queued)
    if isinstance(found, str):
        return Decision("ignored", found)
    topic, owner = found
    if not queued and not await is_red(loop.clock, loop.me, repo, hint.sha, topic.base_branch, loaded.config.checks):
        return nothing_red(hint.sha)
    now = loop.clock()
    limits = loaded.config.limits
    cap = limits.attempts if "attempts" in limits.model_fields_set else loop.options.cap
    async with loop.database.write() as tx:
        account = Actor(facts.owner_id, facts.full_name.partition("/")[0])
        await remember_installation(tx, hint.repo.installation_id, account, now)
        await remember_repository(tx, hint.repo, now, facts)
        if owner is not None:
            await remember_person(tx, owner, now)
        config = loaded.config.model_dump(mode="json", exclude_unset=True)
        session = await watch(tx, topic, owner=owner.id if owner else None, cap=cap, config=config, now=now)
        if isinstance(session, Session) and loaded.problems:
            session.notes = [broken_config(PATH, list(map(str, loaded.problems)))]
        if isinstance(session, Session) and queued:
            went_red_in_queue(session, hint.sha, queued.head_sha)
    if isinstance(session, str):
        return Decision("ignored", session)
    return Decision("started", QUEUE if queued else "red checks", session.id)


async def _topic(
    loop: Loop,
    repo: RepositoryHandle,
    hint: Hint,
    config: RepositoryConfig,
    default_branch: str,
    queued: Pull | None,
) -> tuple[Topic, Actor | None] | str:
    """What the red commit is the head of and whose that is; or why it is not repaired unasked."""
    if hint.branch == default_branch:
        if not config.autofix.default_branch:
            return f"{default_branch} is red, and `autofix.default_branch` is off"
        if await queries.head(repo, default_branch) != hint.sha:
            return f"{hint.sha[:12]} is not the head of {default_branch} any more"
        title = f"Repair the checks of {default_branch}"
        where = hint.repo
        return Topic(
            where.installation_id, where.id, SubjectKind.BRANCH, None, title, default_branch, None, hint.sha
        ), None
    why = f"no open pull request of this repository has the red head {hint.sha[:12]}; those from forks never start"
    for pull in [queued] if queued else await queries.pulls_of_commit(repo, hint.sha):
        if pull.state != "open" or (pull.head_sha != hint.sha and not queued):
            continue
        if unwanted := _unwanted(loop, config, pull):
            why = unwanted
            continue
        author = Actor(pull.author_id, pull.author)
        access = await access_of(repo, pull.author, pull.author_id)
        topic = Topic(
            installation_id=hint.repo.installation_id,
            repository_id=hint.repo.id,
            kind=SubjectKind.PULL,
            number=pull.number,
            title=pull.title,
            base_branch=pull.base_ref,
            branch=pull.head_ref,
            head_sha=pull.head_sha,
            pull_number=pull.number,
            own_branch=False,
        )
        return topic, author if access.may_write and not loop.me.is_me(author) else None
    return why


def _unwanted(loop: Loop, config: RepositoryConfig, pull: Pull) -> str:
    """Why the pull request is not one that is repaired unasked; "" if it is."""
    watched = config.autofix.pull_requests
    if pull.from_fork:
        return f"#{pull.number} comes from a fork, which never starts by itself"
    if watched == "off":
        return "`autofix.pull_requests` is off"
    if loop.me.is_me(Actor(pull.author_id, pull.author)):
        return ""
    if watched == "ours":
        return f"#{pull.number} is not ours, and `autofix.pull_requests` is `ours`"
    if not config.autofix.author_matches(pull.author):
        return f"#{pull.number} is by {pull.author}, whom `autofix.authors` does not name"
    label = label_of(loop.me, config)
    if watched == "labeled" and not is_among(label, pull.labels):
        return f"#{pull.number} does not have the label `{label}`"
    return ""
