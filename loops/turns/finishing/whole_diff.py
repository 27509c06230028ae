"""All that a session's branch changes."""

from dataclasses import dataclass

import structlog

from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
from github.publishing.publish import Published
from github.repositories import queries
from k8s.native.workspaces.diffs import changed_files
from loops.context import Loop
from loops.offload import Withheld
from loops.protocol.results import shown_diff
from loops.secrets.redact import Redactor
from loops.store.tables import Session, Turn
from loops.turns.finishing.guard import redactor_of

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class WholeDiff:
    """The diff as it may be shown, and the files in it."""

    text: str
    files: tuple[str, ...]


async def whole_diff(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, published: Published
) -> WholeDiff | None:
    """What the branch changes since it left its base; None where GitHub has no diff of it (too large), where it could
    not be looked through, and where it is the turn's own."""
    head = published.head
    if head == published.commit and _is_first(session, turn):
        return None
    try:
        found = await queries.diff(repo, session.base_branch or "", head)
    except GitHubError as error:
        log.warning("diff.none", session=session.public_id, head=head, error=str(error))
        return None
    redactor = await redactor_of(loop.database, loop.vault, turn)
    try:
        return await loop.offload.run(session.installation_id, _shown, found, redactor)
    except Withheld as error:
        log.warning("diff.withheld", session=session.public_id, head=head, error=str(error))
        return None


def _is_first(session: Session, turn: Turn) -> bool:
    """Whether the turn's commit stands on the base branch itself, and took in nothing else."""
    began = (turn.spec or {}).get("repository") or {}
    return began.get("ref") == f"refs/heads/{session.base_branch}" and not began.get("merge")


def _shown(diff: str, redactor: Redactor) -> WholeDiff:
    return WholeDiff(shown_diff(diff, redactor), tuple(sorted(changed_files(diff))))
