"""What a turn had changed that ends without a publication: kept as a patch, for people and for the next turn.

Nothing is in it that the guards would refuse, or that its stored diff, which is redacted, no longer tells whole.
"""

import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
from k8s.runner.protocol import Change, Result
from loops.context import Loop
from loops.guards import patch
from loops.guards.model import shown
from loops.sessions.explanations import explain
from loops.store.tables import Session, Turn
from loops.store.work_tables import UnfinishedWork
from loops.turns.finishing.classify_result import TurnVerdict
from loops.turns.finishing.guard import guard

log = structlog.get_logger(__name__)

ROUNDS = 5
"""Times that the guards look: what they refuse is taken out, and what is left is looked at again."""
NAMED = 50


@dataclass(frozen=True)
class Unfinished:
    """A patch that `git apply` takes, the files in it, and those that are not, each with the reason in words."""

    patch: str
    files: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    def besides(self, left_out: Sequence[str]) -> "Unfinished":
        """The same, with more that is not in it."""
        return replace(self, left_out=tuple(dict.fromkeys((*self.left_out, *left_out))))


async def unfinished_of(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, result: Result
) -> Unfinished | None:
    """The work of a turn that is not published; None where there is none, or none that may be shown."""
    try:
        return await _publishable(loop, repo, session, turn, result, result.changes)
    except GitHubError as error:
        log.warning("work.not_looked_at", turn=turn.public_id, error=str(error))
        return None


async def told_before(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, told: Result
) -> Unfinished | None:
    """The work that the box of a turn has told, which it has never reported. None as above; raises GitHubError.

    Nothing but the diff is there of it: of a file that was there before, just what is new and the lines around it.
    """
    texts = {found.path: found for each in patch.sections(told.diff) if (found := patch.read_whole(each)) is not None}
    there = [change for change in told.changes if change.path in texts]
    contents = {change.sha: _after(texts[change.path]) for change in there if change.sha}
    return await _publishable(loop, repo, session, turn, told, there, contents)


def _after(found: patch.Patch) -> bytes:
    lines = (line.text for hunk in found.hunks for line in hunk.lines if line.sign != "-")
    return "\n".join(lines).encode("utf-8", "surrogateescape")


async def _publishable(
    loop: Loop,
    repo: RepositoryHandle,
    session: Session,
    turn: Turn,
    result: Result,
    changes: Sequence[Change],
    contents: Mapping[str, bytes] | None = None,
) -> Unfinished | None:
    """What the guards let pass of these changes of the result."""
    refused: dict[str, str] = {}
    if not changes or not result.diff:
        return None
    for _ in range(ROUNDS):
        findings = await guard(loop, repo, session, turn, replace(result, changes=list(changes)), contents)
        if findings.publishable:
            return without(result, refused)
        for each in findings.refusals:
            refused[each.path] = f"refused: {each.code.replace('_', ' ')}"
        changes = [change for change in changes if change.path not in refused]
        if "" in refused or not changes:
            break
    return None


def without(result: Result, refused: dict[str, str]) -> Unfinished | None:
    """The diff of the result as a patch, without the files `refused`; None where nothing is left. Pure."""
    kept: list[str] = []
    files: list[str] = []
    for section in patch.sections(result.diff):
        found = patch.read_whole(section)
        if found is not None and not {found.old, found.new} & set(refused):
            kept.append(section)
            files.append(found.path)
    if not kept:
        return None
    return Unfinished("".join(kept), tuple(files), _left_out(result.changes, files, refused))


async def keep_unfinished(tx: AsyncSession, turn: Turn, work: Unfinished, why: str, now: float) -> None:
    """Keep the work in place of what the turn had left when it was tried before."""
    row = await tx.get(UnfinishedWork, turn.id) or UnfinishedWork(turn_id=turn.id)
    text = work.patch.encode("utf-8", "surrogateescape")
    row.patch, row.size, row.why, row.at = zlib.compress(text), len(text), why, now
    row.files, row.left_out = list(work.files), list(work.left_out[:NAMED])
    tx.add(row)


def why_cut_short(verdict: TurnVerdict) -> str:
    """Why the turn was not published, in words."""
    if verdict.kind == "cancelled":
        return verdict.note or "cancelled"
    return explain(verdict.reason).title if verdict.reason else "its conversation had to begin anew"


def in_words(work: Unfinished, page: str) -> str:
    """Where people find it. `page` is the turn's patch."""
    count = f"{len(work.files)} file{'s' if len(work.files) > 1 else ''}"
    named = ", ".join(work.left_out[:5]) + (" and more" if len(work.left_out) > 5 else "")
    return f"Its work until then is kept as [a patch of {count}]({page})" + (f", without {named}." if named else ".")


def _left_out(changes: Sequence[Change], files: Collection[str], refused: dict[str, str]) -> tuple[str, ...]:
    kept = set(files)
    return tuple(
        f"{shown(change.path)} ({refused.get(change.path) or 'its change is no text, or too long'})"
        for change in changes
        if change.path not in kept
    )
