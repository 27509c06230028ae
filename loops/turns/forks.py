"""Pull requests from forks: only the commit that somebody with write access approved is worked on, and only read.

The fork itself is never written to. The work goes to a branch and a pull request of ours, whose checks run with the
repository's own secrets: so no commit gets there that nobody looked at.
"""

from dataclasses import dataclass

from github.client.defuse import defused_plain
from github.client.repository import RepositoryHandle
from github.repositories import config, queries
from github.repositories.queries import Pull
from github.webhooks.commands import Approve
from loops.context import Loop
from loops.guards.globs import matches
from loops.guards.model import shown
from loops.guards.obeyed_files import obeyed, protecting
from loops.guards.places import WORKFLOWS
from loops.sessions.snapshots import settings
from loops.store.tables import Session

MOST_FILES = 3000  # that GitHub lists of a pull request
MOST_NAMED = 10


class HeadMoved(Exception):
    """The fork has other commits now than the one that was approved. The message is for people."""


@dataclass(frozen=True)
class Look:
    """What a fork changes: how many `files`, which of them are `obeyed` by name, and what forbids to bring it here."""

    files: int
    obeyed: tuple[str, ...] = ()
    forbidden: str | None = None


async def approved_pull(repo: RepositoryHandle, session: Session) -> Pull | None:
    """The fork's pull request if its head is the commit that was approved; None for a session without a fork.

    Raises HeadMoved.
    """
    pull = await current_pull(repo, session)
    if pull is not None and session.needs_approval:
        raise HeadMoved(f"#{pull.number} has {pull.head_sha[:12]} now, which nobody has approved.")
    return pull


async def current_pull(repo: RepositoryHandle, session: Session) -> Pull | None:
    """The fork's pull request if its head is still the commit that this is about. Raises HeadMoved."""
    if session.approved_sha is None or session.subject_number is None:
        return None
    pull = await queries.pull(repo, session.subject_number)
    if pull.head_sha != session.approved_sha:
        raise HeadMoved(
            f"#{pull.number} moved from {session.approved_sha[:12]} to {pull.head_sha[:12]} after I was asked, and "
            "nobody has allowed me to work on what is new. Mention me there once more, and I ask about that commit."
        )
    return pull


async def look(loop: Loop, repo: RepositoryHandle, session: Session, pull: Pull) -> Look:
    """Look through the files of the pull request. Raises HeadMoved if it got other commits meanwhile."""
    rules = settings(session.config)
    writes_workflows = await loop.github.grants(session.installation_id, "workflows")
    named: list[str] = []
    forbidden: str | None = None
    files = 0
    async for each in repo.pages(f"pulls/{pull.number}/files", limit=MOST_FILES):
        files += 1
        for path in filter(None, (str(each.get("filename") or ""), str(each.get("previous_filename") or ""))):
            if matches(path, config.PATH) or (matches(path, WORKFLOWS) and not writes_workflows):
                forbidden = forbidden or shown(path)
            if obeyed(path) or protecting(path, rules):
                named.append(path)
    if files >= MOST_FILES:
        forbidden = f"more than {MOST_FILES - 1} files"
    await current_pull(repo, session)
    return Look(files, tuple(dict.fromkeys(named)), forbidden)


def question(pull: Pull, seen: Look, *, handle: str, web: str) -> str:
    """What somebody has to know who approves the fork's commit, and how they do it. `web` is the repository's page."""
    sha = pull.head_sha
    listed = "\n".join(f"- {shown(path)}" for path in seen.obeyed[:MOST_NAMED])
    more = len(seen.obeyed) - MOST_NAMED
    files = f"{seen.files} file{'' if seen.files == 1 else 's'}"
    touched = (
        f"Of the {files} that it changes, CI, GitHub, editors, package managers or agents obey these by name:\n\n"
        + listed
        + (f"\n- and {more} more" if more > 0 else "")
        if seen.obeyed
        else f"It changes {files}; none of them is one that CI, GitHub or an agent obeys by its name. Builds and "
        "tests run all of it nevertheless."
    )
    return (
        f"#{pull.number} comes from a fork, by {defused_plain(pull.author) or 'a deleted account'}. I looked at commit "
        f"[{sha[:12]}]({web}/commit/{sha}), and nobody has approved it yet. **Approving it runs its code with this "
        "repository's secrets**: a branch here gets its commits, and CI runs for that branch as for one of yours.\n\n"
        f"To approve this commit and no other, press *Approve {sha[:12]}* in my check on it, or comment `@{handle} "
        f"{Approve.name} {sha}`.\n\n{touched}"
    )
