"""Where a turn begins: which commit, and which branch its work goes to."""

from dataclasses import dataclass

from github import refs, repositories
from github.repository import Repository as Handle
from loops.context import Loop
from loops.tables import Repository, Session


@dataclass(frozen=True)
class Start:
    """The commit, the ref to fetch it by, and the branch that the work goes to."""

    sha: str
    ref: str
    branch: str
    base_branch: str
    base_sha: str


def handle(loop: Loop, repository: Repository) -> Handle:
    """GitHub's side of a repository row."""
    return loop.github.repository(repository.installation_id, repository.id, repository.full_name)


class CannotStart(Exception):
    """The turn cannot begin; `reason` is one of the session's reasons."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


async def start_of(loop: Loop, repo: Handle, session: Session) -> Start:
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
    tip = await repositories.head(repo, branch)
    if tip is None and not session.own_branch:
        raise CannotStart("no_branch", f"The branch `{branch}` does not exist any more.")
    if tip is not None:
        return Start(tip, f"refs/heads/{branch}", branch, base, base_sha)
    return Start(base_sha, f"refs/heads/{base}", branch, base, base_sha)


async def _new_branch(loop: Loop, repo: Handle, session: Session) -> str:
    """A name that no branch has and none blocks."""
    prefix = str((session.config or {}).get("branch_prefix") or loop.options.branch_prefix)
    name = refs.branch_name(prefix, session.subject_number, session.title)
    if await repositories.head(repo, name) is None:
        return name
    return refs.branch_name(prefix, session.subject_number, session.title, suffix=session.public_id[-6:])
