"""All that a session's branch changes."""

from dataclasses import dataclass

import structlog

from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
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


async def whole_diff(loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, head: str) -> WholeDiff | None:
    """What `head` changes since it left the base branch; None where GitHub has no diff of it
    (too large), or where it could not be looked through."""
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


def _shown(diff: str, redactor: Redactor) -> WholeDiff:
    return WholeDiff(shown_diff(diff, redactor), tuple(sorted(changed_files(diff))))
