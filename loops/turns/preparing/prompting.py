"""The prompt of a turn, from what was said at the trigger and what the base commit holds."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
from github.repositories import queries
from github.repositories.config import RepositoryConfig
from github.threads import comments
from loops.context import Loop
from loops.prompts import contexts, description
from loops.prompts.render import render
from loops.runtimes.base import BoxFile
from loops.sessions.agent_conversation import known_turns
from loops.sessions.ask import Ask, Conflict, RedChecks, ReviewText, ThreadText
from loops.sessions.ask_columns import ask_of
from loops.sessions.recap import recap
from loops.sessions.snapshots import settings, turns_of
from loops.store.tables import Session, Turn
from loops.store.work_tables import UnfinishedWork
from loops.turns.preparing import unfinished_work
from loops.turns.preparing.checking import check_told
from loops.turns.preparing.earlier_attempts import earlier_attempts
from loops.turns.preparing.env import Wanted
from loops.turns.preparing.start import StartingPoint
from loops.turns.preparing.unfinished_work import unfinished_before

GUIDANCE = ("AGENTS.md", "CLAUDE.md")
LEFT_OUT = 20  # things that the turn before left behind that are named
GUIDANCE_BYTES = 256 * 1024


@dataclass(frozen=True)
class Told:
    """What an agent is told: the text for its stdin, and the files that it names."""

    text: str
    files: tuple[BoxFile, ...] = ()
    left_work: UnfinishedWork | None = None


async def prompt_of(
    loop: Loop,
    repo: RepositoryHandle,
    session: Session,
    turn: Turn,
    start: StartingPoint,
    wanted: Wanted | None,
    runtime: str,
    verification: Mapping[str, Any] | None,
) -> Told:
    """What the agent is told. The one placeholder of its text is the runner's `{turn_dir:MARKER}`."""
    ask = ask_of(turn)
    async with loop.database.read() as tx:
        before = [each for each in await turns_of(tx, session.id) if each.number < turn.number]
        left = await unfinished_before(tx, turn)
        earlier = await earlier_attempts(tx, turn) if isinstance(ask.about, RedChecks) else ()
    config = settings(session.config)
    guidance = await _guidance(repo, start.base_sha)
    known = known_turns(session, turn, runtime, before)
    # what a conversation that goes on was told with its last turn need not be told again
    told = max((each.created_at for each in known), default=0.0)
    about = contexts.TurnContext(
        repository=await repo.full_name(),
        branch=start.branch,
        base_branch=start.base_branch,
        base_sha=start.base_sha,
        asker=ask.asker.login,
        instruction=ask.instruction,
        guidance=tuple(
            contexts.Guidance(name, f"{{turn_dir:{turn.marker}}}/guidance/{name}", len(content))
            for name, content in guidance
        ),
        rules=config.instructions,
        protection=_protection(config),
        summary=recap(before, known=max((each.number for each in known), default=0)),
        env_file=wanted.path if wanted and wanted.names else "",
        left_out=_left_out(before),
        lfs=await _has_lfs(repo, start.sha),
        description=contexts.Description(
            *(
                path.replace("{turn_dir}", f"{{turn_dir:{turn.marker}}}")
                for path in (description.PATH, description.SCHEMA_PATH)
            )
        ),
        left_work=unfinished_work.told(left, turn.marker) if left is not None else None,
        check=check_told(session, turn, verification),
    )
    text = render(await _prompt(repo, session, turn, ask, about, told, earlier))
    guides = (BoxFile(f"{{turn_dir}}/guidance/{name}", content) for name, content in guidance)
    schema = BoxFile(description.SCHEMA_PATH, description.schema().encode())
    return Told(text, (*guides, schema, BoxFile(description.PATH, b"", read_back=True)), left)


def _protection(config: RepositoryConfig) -> contexts.Protection:
    """What the guards would refuse a change of, as far as its path tells."""
    own = config.protected_paths
    usual = RepositoryConfig().protected_paths
    return contexts.Protection(
        obeyed=bool(own),
        paths=tuple(glob for glob in own if not glob.startswith("!") and glob not in usual),
        freed=tuple(glob[1:] for glob in own if glob.startswith("!")),
    )


def _left_out(before: Sequence[Turn]) -> tuple[str, ...]:
    """What the turn before made and was not committed, each with its reason."""
    named = [str(each) for each in ((before[-1].result or {}).get("left_out") or ())] if before else []
    more = [f"and {len(named) - LEFT_OUT} more"] if len(named) > LEFT_OUT else []
    return (*named[:LEFT_OUT], *more)


async def _has_lfs(repo: RepositoryHandle, sha: str) -> bool:
    """Whether the repository's own rules put files under Git LFS; those of its folders are not looked for."""
    try:
        rules = await queries.file_at(repo, ".gitattributes", sha)
    except GitHubError:
        return False
    return rules is not None and re.search(rb"^[^#\n]*\sfilter=lfs(?:\s|$)", rules, re.MULTILINE) is not None


async def _prompt(
    repo: RepositoryHandle,
    session: Session,
    turn: Turn,
    ask: Ask,
    about: contexts.TurnContext,
    known: float,
    earlier: tuple[str, ...],
) -> contexts.Prompt:
    match ask.about:
        case RedChecks() as red:
            return contexts.ChecksPrompt(
                turn=about,
                sha=red.sha,
                checks=tuple(_check(each, turn.marker) for each in red.checks),
                attempt=red.attempt,
                cap=session.cap,
                number=session.pull_number,
                earlier=earlier,
                not_ours=red.not_ours,
                queued=red.queued,
            )
        case Conflict() as conflict:
            return contexts.ConflictPrompt(
                turn=about, theirs=conflict.theirs, files=conflict.files, commits=conflict.commits
            )
        case ReviewText() as review:
            return contexts.ReviewPrompt(
                turn=about,
                number=session.pull_number or review.number,
                title=review.title or session.title,
                review=contexts.Text(author=ask.asker.login, body=review.review),
                comments=tuple(
                    contexts.ReviewComment(each.author, each.body, each.path, each.line or None, each.diff_hunk)
                    for each in review.remarks
                ),
            )
        case ThreadText() as thread:
            number = session.subject_number or 0
            title = thread.title or session.title
            body = contexts.Text(author=thread.author, body=thread.body, where="description")
            discussion = await _discussion(repo, number, turn, ask, known)
            kind = contexts.PullRequestPrompt if thread.is_pull else contexts.IssuePrompt
            return kind(turn=about, number=number, title=title, body=body, discussion=discussion)


async def _discussion(
    repo: RepositoryHandle, number: int, turn: Turn, ask: Ask, known: float
) -> tuple[contexts.Text, ...]:
    """What others have said there since `known`, up to the comment that asked."""
    if not number:
        return ()
    source = ask.source
    until = (source.at if source else "") or _at_github(turn.created_at)
    asked = source.id if source else 0
    said = await comments.said_by_others(
        repo, number, after=_at_github(known), until=until, but=asked, max_age=queries.STEP
    )
    return tuple(contexts.Text(author=each.author, body=each.body, where="comment", at=each.at) for each in said)


def _at_github(at: float) -> str:
    """UNIX seconds in the form in which GitHub tells times."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _check(stored: dict[str, object], marker: str) -> contexts.FailedCheck:
    logs = stored.get("logs")
    return contexts.FailedCheck(
        name=str(stored["name"]),
        conclusion=str(stored["conclusion"]),
        evidence=str(stored["evidence"]),
        url=str(stored.get("url") or ""),
        logs=tuple(contexts.LogFile(f"{{turn_dir:{marker}}}/{log['path']}", int(log["size"])) for log in logs)
        if isinstance(logs, list)
        else (),
        command=str(stored.get("command") or ""),
        step=str(stored.get("step") or ""),
        exit_code=code if isinstance(code := stored.get("exit_code"), int) else None,
    )


async def _guidance(repo: RepositoryHandle, sha: str) -> list[tuple[str, bytes]]:
    """The repository's own files of guidance: of the base commit, so that no turn guides the next."""

    async def read(path: str) -> bytes | None:
        try:
            return await queries.file_at(repo, path, sha)
        except GitHubError:
            return None  # a file that is too large to read this way guides nobody

    found = await asyncio.gather(*map(read, GUIDANCE))
    return [(path, content[:GUIDANCE_BYTES]) for path, content in zip(GUIDANCE, found, strict=True) if content]
