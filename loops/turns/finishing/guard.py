"""What the guards say of a turn before anything of it is published."""

from collections.abc import Mapping
from functools import partial

from github.client.errors import UnreadableAnswer
from github.client.repository import RepositoryHandle
from github.publishing import trees
from github.publishing.publish import WORKFLOWS
from github.repositories import queries
from k8s.runner.protocol import Result
from k8s.runner.verification import FAILED, PASSED
from loops.accounts.box_secrets import CannotPrepare
from loops.accounts.credentials import TurnCredentials
from loops.context import Loop
from loops.guards import Finding, Findings, Proposal, examine
from loops.offload import Withheld
from loops.secrets.redact import Redactor
from loops.secrets.vault import Vault
from loops.sessions.ask import Conflict
from loops.sessions.ask_columns import ask_of
from loops.sessions.snapshots import settings
from loops.store.database import Database
from loops.store.states import TurnKind
from loops.store.tables import Blob, Session, Turn


async def guard(
    loop: Loop,
    repo: RepositoryHandle,
    session: Session,
    turn: Turn,
    result: Result,
    contents: Mapping[str, bytes] | None = None,
) -> Findings:
    """Refusals and notes. With a refusal nothing of the turn may be published.

    `contents` by their shas stand for what the box has stored, where it has stored nothing.
    """
    proposal = Proposal(
        changes=result.changes,
        diff=result.diff,
        config=settings(session.config),
        workflows_allowed=not any(change.path.startswith(WORKFLOWS) for change in result.changes)
        or await loop.github.grants(session.installation_id, "workflows"),
        repair=turn.kind is TurnKind.CHECKS,
        merges=bool(((turn.spec or {}).get("repository") or {}).get("merge")),
        redactor=await redactor_of(loop.database, loop.vault, turn),
        env_files=frozenset(filter(None, [((turn.spec or {}).get("env_file") or {}).get("path")])),
        merged=await _merged(repo, turn),
        ran=_ran(result),
        file_bytes=loop.options.file_bytes,
        changed_bytes=loop.options.changed_bytes,
    )

    large = {change.sha: change.lfs for change in result.changes if change.lfs}

    async def content_of(sha: str) -> bytes:
        if contents is not None:
            return contents[sha]
        # of a file under Git LFS what is uploaded counts, not its pointer
        async with loop.database.read() as tx:
            return (await tx.get_one(Blob, (turn.id, large.get(sha, sha)))).content

    async def base_of(path: str) -> bytes | None:
        try:
            return await queries.file_at(repo, path, turn.base_sha or "")
        except UnreadableAnswer:
            return None  # too large for the API: then all of it counts as new

    try:
        return await examine(proposal, content_of, base_of, partial(loop.offload.run, session.installation_id))
    except Withheld as error:
        text = f"What this turn changed could not be looked at: {error}. Ask for a smaller step."
        return Findings((Finding("not_searched", "", text),))


def _ran(result: Result) -> tuple[str, str] | None:
    """What the check printed before the agent and after it, where it ran to its end both times."""
    before, after = result.trials.before, result.trials.after
    ended = (PASSED, FAILED)
    if before is None or after is None or before.how not in ended or after.how not in ended:
        return None
    return before.output, after.output


async def _merged(repo: RepositoryHandle, turn: Turn) -> dict[str, tuple[str, str]] | None:
    """The files of the commit that was merged before a turn about a conflict began: they were looked at before."""
    about = ask_of(turn).about
    if not isinstance(about, Conflict):
        return None
    return await trees.files(repo, about.ours)


async def redactor_of(database: Database, vault: Vault, turn: Turn) -> Redactor:
    """It knows the secrets that the turn was given, as far as they can be read."""
    try:
        return Redactor(await TurnCredentials(database, vault).secrets(turn))
    except CannotPrepare:
        return Redactor()
