"""Where a turn begins: which commit, and which branch its work goes to."""

from dataclasses import dataclass

from github.client.errors import NotVisibleYet, RefusedBranch
from github.client.repository import RepositoryHandle
from github.publishing import branches
from github.publishing.commits import commit_message
from github.publishing.pushrules import Push, would_refuse
from github.repositories import queries, refs
from github.repositories.prefetch import prefetch
from loops.context import Clock, Loop
from loops.conversations.pull_state import may_be_late
from loops.options import LoopOptions
from loops.sessions.ask import Conflict, RedChecks
from loops.sessions.ask_columns import ask_of
from loops.store.states import SubjectKind
from loops.store.tables import Session, Turn
from loops.turns import forks
from loops.turns.commit_style import READ, CommitStyle, style_of
from loops.turns.pull_request import commit_subjects


@dataclass(frozen=True)
class StartingPoint:
    """The commit, the ref to fetch it by, and the branch that the work goes to."""

    sha: str
    ref: str
    branch: str
    base_branch: str
    base_sha: str
    merge: tuple[str, str] | None = None  # (ref, commit) of what the box merges before the agent begins


class CannotStart(Exception):
    """The turn cannot begin; `reason` is one of the session's reasons."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


async def start_of(loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn) -> StartingPoint:
    """The commit to begin from: the head of our branch where there is one, else of the base branch.

    Raises CannotStart, also when it is known beforehand that GitHub will refuse the work, or that we may not push it.
    """
    start = await _begin(loop, repo, session, turn)
    exists = start.ref == f"refs/heads/{start.branch}"
    if against := await _refused(loop, repo, session, turn, start, CommitStyle()):
        # what a rule wants of messages, the log's own style has as a rule
        style = style_of(await queries.subjects(repo, start.base_branch, READ))
        if against := await _refused(loop, repo, session, turn, start, style):
            raise CannotStart("rules", "; ".join(against) + ".")
    if exists:
        try:
            await branches.refuse_unless_ours_to_write(repo, start.branch)
        except RefusedBranch as error:
            raise CannotStart("rules", str(error)) from None
    return start


async def _refused(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, start: StartingPoint, style: CommitStyle
) -> tuple[str, ...]:
    """What GitHub would refuse of the turn's commit, by what is known of it beforehand."""
    message = commit_message(commit_subjects(session, turn, style)[0], "", turn=turn.public_id)
    exists = start.ref == f"refs/heads/{start.branch}"
    return await would_refuse(repo, start.branch, Push(exists, (await loop.github.identity()).email, message))


async def _begin(loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn) -> StartingPoint:
    facts = await queries.facts(repo, max_age=queries.SOON)
    if facts.archived:
        raise CannotStart("archived", f"{facts.full_name} is archived, so nothing can be pushed to it.")
    base = _base(session, turn, facts.default_branch)
    branch = session.branch or _first_name(loop.options, session)
    moment = await prefetch(repo, base=base, branch=branch)
    base, base_sha = await base_of(repo, session, turn, max_age=moment)
    if base_sha is None and ask_of(turn).options.base:
        raise CannotStart("no_base", f"There is no branch `{base}` in {facts.full_name}.")
    if base_sha is None and not await queries.is_empty(repo):
        raise NotVisibleYet(f"GitHub shows no branch {base}, and {facts.full_name} has commits")
    if base_sha is None:
        raise CannotStart("empty_repository", f"{facts.full_name} has no commit on its default branch yet.")
    about = ask_of(turn).about
    if isinstance(about, Conflict):
        return await _conflict(repo, session, about, branch, base, base_sha, moment)
    tip = await _tip(loop.clock, repo, session, branch, moment)
    if tip is not None and session.branch is None:
        branch = _other_name(loop.options, session)
        tip = await _tip(loop.clock, repo, session, branch, 0.0)
    if tip is None and not session.own_branch:
        raise CannotStart("no_branch", f"The branch `{branch}` does not exist any more.")
    if session.approved_sha is not None:
        return await _fork(loop, repo, session, turn, branch, tip)
    if tip is not None:
        merge = await _red(repo, session, turn, base, tip) or await _queued(repo, turn, base, base_sha, tip)
        return StartingPoint(tip, f"refs/heads/{branch}", branch, base, base_sha, merge=merge)
    return StartingPoint(base_sha, f"refs/heads/{base}", branch, base, base_sha)


async def _tip(clock: Clock, repo: RepositoryHandle, session: Session, branch: str, max_age: float) -> str | None:
    """The head of the branch. Raises NotVisibleYet while GitHub shows less than what we have just pushed there."""
    tip = await queries.head(repo, branch, max_age=max_age)
    pushed = session.head_sha
    if pushed is None or tip == pushed or branch != session.branch:
        return tip
    if tip is None:
        await _refuse_late(repo, session, branch)
    if may_be_late(session, clock()) and (tip is None or await queries.is_before(repo, tip, pushed)):
        raise NotVisibleYet(
            f"GitHub shows {branch} at {tip or 'no commit'}, and {pushed} was pushed there a moment ago"
        )
    return tip


async def _refuse_late(repo: RepositoryHandle, session: Session, branch: str) -> None:
    """Raise NotVisibleYet where the branch that GitHub does not show must be there: with its branch a pull request of
    this repository's own is closed."""
    if session.pull_number is None or session.approved_sha is not None:
        return
    pull = await queries.pull(repo, session.pull_number)
    if pull.state == "open" and not pull.from_fork and pull.head_ref == branch:
        raise NotVisibleYet(f"GitHub shows no branch {branch}, and its pull request #{pull.number} is open")


async def base_of(
    repo: RepositoryHandle, session: Session, turn: Turn, *, max_age: float = 0.0
) -> tuple[str, str | None]:
    """The branch that the work is for, and its head now, or within the last `max_age` seconds (None: it is not there).

    One that is gone, as after a rename, gives way to the default branch, unless somebody named it.
    """
    base = _base(session, turn, (await queries.facts(repo, max_age=queries.SOON)).default_branch)
    sha = await queries.head(repo, base, max_age=max_age) if base else None
    if sha is None and not ask_of(turn).options.base:
        default = (await queries.facts(repo)).default_branch  # what was kept may be from before a rename
        if default not in ("", base):
            base, sha = default, await queries.head(repo, default)
    return base, sha


def _base(session: Session, turn: Turn, default: str) -> str:
    """The branch that the work is for: as somebody named it, or as the session knows it."""
    return ask_of(turn).options.base or session.base_branch or default


async def _fork(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, branch: str, tip: str | None
) -> StartingPoint:
    """The head of a fork's pull request, read-only: our work goes to a branch of our own, for its base.

    Where that branch is there already, what the fork was allowed since is merged into it.
    """
    try:
        pull = await forks.current_pull(repo, session)
        if pull is None:
            raise CannotStart("no_branch", "The pull request of this session is not known any more.")
        seen = await forks.look(loop, repo, session, pull)
    except forks.HeadMoved as error:
        raise CannotStart("head_moved", str(error)) from None
    if seen.forbidden:
        raise CannotStart(
            "fork_refused",
            f"#{pull.number} comes from a fork and changes {seen.forbidden}. A branch here with its commits would run "
            "that with this repository's secrets, so I leave it alone. Take that change out of the pull request, or "
            "make it yourself.",
        )
    if session.needs_approval:
        web = f"{loop.web_url}/{await repo.full_name()}"
        raise CannotStart("fork_unapproved", forks.question(pull, seen, handle=loop.me.names[0], web=web))
    base = ask_of(turn).options.base or pull.base_ref
    ref = f"refs/pull/{pull.number}/head"
    base_sha = await queries.head(repo, base) or pull.base_sha
    if tip is None:
        return StartingPoint(pull.head_sha, ref, branch, base, base_sha)
    merge = None if await _holds(repo, tip, pull.head_sha) else (ref, pull.head_sha)
    return StartingPoint(tip, f"refs/heads/{branch}", branch, base, base_sha, merge=merge)


async def _red(repo: RepositoryHandle, session: Session, turn: Turn, base: str, tip: str) -> tuple[str, str] | None:
    """The red commit of the default branch that our open repair of it does not hold yet: it is merged first."""
    about = ask_of(turn).about
    if session.subject_kind is not SubjectKind.BRANCH or not isinstance(about, RedChecks):
        return None
    return None if await _holds(repo, tip, about.sha) else (f"refs/heads/{base}", about.sha)


async def _queued(repo: RepositoryHandle, turn: Turn, base: str, base_sha: str, tip: str) -> tuple[str, str] | None:
    """The base branch, where the checks are red only with it: a merge queue says what the two are together."""
    about = ask_of(turn).about
    if not isinstance(about, RedChecks) or not about.queued or await _holds(repo, tip, base_sha):
        return None
    return f"refs/heads/{base}", base_sha


async def _holds(repo: RepositoryHandle, tip: str, sha: str) -> bool:
    return (await queries.compare(repo, tip, sha)).get("status") in ("behind", "identical")


async def _conflict(
    repo: RepositoryHandle, session: Session, about: Conflict, branch: str, base: str, base_sha: str, max_age: float
) -> StartingPoint:
    """The branch as somebody else left it, and our commit that does not merge with it."""
    tip = await queries.head(repo, branch, max_age=max_age)
    if tip is None:
        await _refuse_late(repo, session, branch)
        raise CannotStart("no_branch", f"The branch `{branch}` does not exist any more.")
    return StartingPoint(tip, f"refs/heads/{branch}", branch, base, base_sha, merge=(about.ours, about.ours))


def _first_name(options: LoopOptions, session: Session) -> str:
    """The name for a new branch, if no branch has it."""
    return refs.branch_name(_prefix(options, session), session.subject_number, session.title)


def _other_name(options: LoopOptions, session: Session) -> str:
    """One that no other session's branch has."""
    suffix = session.public_id[-6:]
    return refs.branch_name(_prefix(options, session), session.subject_number, session.title, suffix=suffix)


def _prefix(options: LoopOptions, session: Session) -> str:
    return str((session.config or {}).get("branch_prefix") or options.branch_prefix)
