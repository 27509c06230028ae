"""What a turn had changed that ends without a publication: kept as a patch, for people and for the next turn.

Nothing is in it that the guards would refuse, or that its stored diff, which is redacted, no longer tells whole.
"""

import zlib
from collections.abc import Collection, Sequence
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
_SECTION = "diff --git "


@dataclass(frozen=True)
class Unfinished:
    """A patch that `git apply` takes, the files in it, and those that are not, each with the reason in words."""

    patch: str
    files: tuple[str, ...]
    left_out: tuple[str, ...] = ()


async def unfinished_of(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, result: Result
) -> Unfinished | None:
    """The work of a turn that is not published; None where there is none, or none that may be shown."""
    changes, refused = list(result.changes), dict[str, str]()
    if not changes or not result.diff:
        return None
    try:
        for _ in range(ROUNDS):
            findings = await guard(loop, repo, session, turn, replace(result, changes=changes))
            if findings.publishable:
                return without(result, refused)
            for each in findings.refusals:
                refused[each.path] = f"refused: {each.code.replace('_', ' ')}"
            changes = [change for change in changes if change.path not in refused]
            if "" in refused or not changes:
                break
    except GitHubError as error:
        log.warning("work.not_looked_at", turn=turn.public_id, error=str(error))
    return None


def without(result: Result, refused: dict[str, str]) -> Unfinished | None:
    """The diff of the result as a patch, without the files `refused`; None where nothing is left. Pure."""
    kept: list[str] = []
    files: list[str] = []
    for section in _sections(result.diff):
        found = patch.read(section)
        if len(found) == 1 and _is_whole(found[0]) and not {found[0].old, found[0].new} & set(refused):
            kept.append(section)
            files.append(found[0].path)
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


def _sections(diff: str) -> list[str]:
    """The parts of a diff, a file each. A line of a file never begins as a part does: its sign stands before it."""
    found: list[list[str]] = []
    for line in diff.split("\n"):
        if line.startswith(_SECTION):
            found.append([])
        if found:
            found[-1].append(line)
    return ["\n".join(lines).rstrip("\n") + "\n" for lines in found]


def _is_whole(found: patch.Patch) -> bool:
    return all(hunk.exact for hunk in found.hunks)


def _left_out(changes: Sequence[Change], files: Collection[str], refused: dict[str, str]) -> tuple[str, ...]:
    kept = set(files)
    return tuple(
        f"{shown(change.path)} ({refused.get(change.path) or 'its change is no text, or too long'})"
        for change in changes
        if change.path not in kept
    )
