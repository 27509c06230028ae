"""Where a turn begins: which commit, and which branch its work goes to."""

from dataclasses import dataclass

from github import refs, repositories
from github.repository import Repository as Handle
from loops.context import Loop
from loops.tables import Repository, Session, Turn


@dataclass(frozen=True)
class Start:
    """The commit, the ref to fetch it by, and the branch that the work goes to."""

    sha: str
    ref: str
    branch: str
    base_branch: str
    base_sha: str
    merge: tuple[str, str] | None = None  # (ref, commit) of the other side, for a turn about a conflict


def handle(loop: Loop, repository: Repository) -> Handle:
    """GitHub's side of a repository row."""
    return loop.github.repository(repository.installation_id, repository.id, repository.full_name)


class CannotStart(Exception):
    """The turn cannot begin; `reason` is one of the session's reasons."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


async def start_of(loop: Loop, repo: Handle, session: Session, turn: Turn) -> Start:
    """The commit to begin from: the head of our branch where there is one, else of the base branch."""
    facts = await repositories.facts(repo)
    if facts.archived:
        raise CannotStart("archived", f"{facts.full_name} is archived, so nothing can be pushed to it.")
    base = str(session.options.get("base") or session.base_branch or facts.default_branch)
    base_sha = await repositories.head(repo, base) if base else None
    if base_sha is None and session.options.get("base"):
        raise CannotStart("no_base", f"There is no branch `{base}` in {facts.full_name}.")
    if base_sha is None:
        raise CannotStart("empty_repository", f"{facts.full_name} has no commit on its default branch yet.")
    branch = session.branch or await _new_branch(loop, repo, session)
    if turn.kind == "conflict":
        return await _conflict(repo, turn, branch, base, base_sha)
    tip = await repositories.head(repo, branch)
    if tip is None and not session.own_branch:
        raise CannotStart("no_branch", f"The branch `{branch}` does not exist any more.")
    if tip is None and session.subject_kind == "pull" and session.subject_number:
        return await _fork(repo, session.subject_number, branch)
    if tip is not None:
        return Start(tip, f"refs/heads/{branch}", branch, base, base_sha)
    return Start(base_sha, f"refs/heads/{base}", branch, base, base_sha)


async def _fork(repo: Handle, number: int, branch: str) -> Start:
    """The head of a fork's pull request, read-only: our work goes to a branch of our own, for its base."""
    pull = await repositories.pull(repo, number)
    return Start(pull.head_sha, f"refs/pull/{number}/head", branch, pull.base_ref, pull.base_sha)


async def _conflict(repo: Handle, turn: Turn, branch: str, base: str, base_sha: str) -> Start:
    """The branch as somebody else left it, and our commit that does not merge with it."""
    tip = await repositories.head(repo, branch)
    if tip is None:
        raise CannotStart("no_branch", f"The branch `{branch}` does not exist any more.")
    ours = str(turn.context["ours"])
    return Start(tip, f"refs/heads/{branch}", branch, base, base_sha, merge=(ours, ours))


async def _new_branch(loop: Loop, repo: Handle, session: Session) -> str:
    """A name that no branch has and none blocks."""
    prefix = str((session.config or {}).get("branch_prefix") or loop.options.branch_prefix)
    name = refs.branch_name(prefix, session.subject_number, session.title)
    if await repositories.head(repo, name) is None:
        return name
    return refs.branch_name(prefix, session.subject_number, session.title, suffix=session.public_id[-6:])
