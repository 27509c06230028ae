"""A hint that checks of a commit changed: whoever watches it looks again, and a red one may begin a session."""

from sqlalchemy import select, update

from github import repositories
from github.config import Autofix
from github.outcomes import Actor, Hint
from github.repositories import Pull
from github.repository import Repository
from loops import conversations
from loops.context import Loop
from loops.conversations import Topic
from loops.decide import OPEN_SESSION
from loops.decisions import Decision
from loops.leases import make_due
from loops.steps.facts import remember_installation, remember_person, remember_repository
from loops.tables import Session

DEBOUNCE = 0.3  # seconds; suites, runs and checks of one push report within a moment of each other


async def take_hint(loop: Loop, hint: Hint) -> Decision:
    """Wake the sessions that wait for this commit; else see whether its failure is one that we repair unasked."""
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
    if not hint.failed:
        return Decision("ignored", f"nobody waits for the checks of {hint.sha[:12]}")
    return await _unasked(loop, hint)


async def _unasked(loop: Loop, hint: Hint) -> Decision:
    """A red commit that no open session waits for."""
    repo = loop.github.repository(hint.repo.installation_id, hint.repo.id, hint.repo.full_name)
    facts = await repositories.facts(repo)
    loaded = await repositories.settings(repo, facts.default_branch)
    autofix = loaded.config.autofix
    topic, owner = await _topic(loop, repo, hint, autofix, loaded.config.label, facts.default_branch)
    if topic is None:
        return Decision("ignored", f"the red commit {hint.sha[:12]} is none that is repaired unasked")
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
        session = await conversations.watch(
            tx, topic, owner=owner.id if owner else None, cap=cap, config=config, now=now
        )
    if session is None:
        return Decision("ignored", "repairs are off or over here")
    return Decision("started", "red checks", session.id)


async def _topic(
    loop: Loop, repo: Repository, hint: Hint, autofix: Autofix, label: str, default_branch: str
) -> tuple[Topic | None, Actor | None]:
    """What the red commit is the head of, if the repository wants that repaired; and whose it is."""
    if hint.branch == default_branch:
        if not autofix.default_branch or await repositories.head(repo, default_branch) != hint.sha:
            return None, None
        title = f"Repair the checks of {default_branch}"
        where = hint.repo
        return Topic(where.installation_id, where.id, "branch", None, title, default_branch, None, hint.sha), None
    for pull in await repositories.pulls_of_commit(repo, hint.sha):
        if (
            pull.state == "open"
            and pull.head_sha == hint.sha
            and not pull.from_fork
            and _wanted(loop, autofix, label, pull)
        ):
            author = Actor(pull.author_id, pull.author)
            access = await loop.access.of(repo, pull.author, pull.author_id)
            topic = Topic(
                installation_id=hint.repo.installation_id,
                repository_id=hint.repo.id,
                kind="pull",
                number=pull.number,
                title=pull.title,
                base_branch=pull.base_ref,
                branch=pull.head_ref,
                head_sha=pull.head_sha,
                pull_number=pull.number,
                own_branch=False,
            )
            return topic, author if access.may_write and not loop.me.is_me(author) else None
    return None, None


def _wanted(loop: Loop, autofix: Autofix, label: str, pull: Pull) -> bool:
    if autofix.pull_requests == "off":
        return False
    if loop.me.is_me(Actor(pull.author_id, pull.author)):
        return True
    if autofix.pull_requests == "ours" or not autofix.author_matches(pull.author):
        return False
    return autofix.pull_requests == "all" or label.lower() in {name.lower() for name in pull.labels}
