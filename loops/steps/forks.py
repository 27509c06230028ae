"""Pull requests from forks: only the head that somebody with write access allowed is worked on, and only read.

The fork itself is never written to. The work goes to a branch and a pull request of ours, which run with the
repository's own secrets: so nothing gets there that nobody looked at.
"""

from github import config, repositories
from github.repositories import Pull
from github.repository import Repository as Handle
from loops.guards.globs import first_match
from loops.pictures import settings
from loops.tables import Session

MOST_FILES = 3000  # that GitHub lists of a pull request


class HeadMoved(Exception):
    """The fork has other commits now than those that were allowed. The message is for people."""


async def allowed_pull(repo: Handle, session: Session) -> Pull | None:
    """The fork's pull request if its head is still the one that was allowed; None for a session without a fork.

    Raises HeadMoved.
    """
    if session.approved_sha is None or session.subject_number is None:
        return None
    pull = await repositories.pull(repo, session.subject_number)
    if pull.head_sha != session.approved_sha:
        raise HeadMoved(
            f"#{pull.number} moved from {session.approved_sha[:12]} to {pull.head_sha[:12]} after I was asked, and "
            f"nobody has allowed me to work on the new commits. Look at them, then mention me on #{pull.number} once "
            "more: I start from what is there then."
        )
    return pull


async def protected_path(repo: Handle, session: Session, number: int) -> str | None:
    """A protected path that the fork itself changes, or what else forbids to bring its commits here; None: nothing."""
    protected = (*settings(session.config).protected_paths, config.PATH)
    seen = 0
    async for each in repo.pages(f"pulls/{number}/files", limit=MOST_FILES):
        seen += 1
        for path in (str(each.get("filename") or ""), str(each.get("previous_filename") or "")):
            if path and first_match(path, protected):
                return f"`{path}`"
    return f"more than {MOST_FILES - 1} files" if seen >= MOST_FILES else None
