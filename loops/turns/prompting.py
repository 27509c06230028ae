"""The prompt of a turn, from what was said at the trigger and what the base commit holds."""

import asyncio
from datetime import UTC, datetime

from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
from github.repositories import queries
from github.threads import comments, reviews
from loops.context import Loop
from loops.prompts import contexts
from loops.prompts.render import render
from loops.sessions.recap import recap
from loops.sessions.snapshots import turns_of
from loops.store.tables import Session, Turn
from loops.turns.env import Wanted
from loops.turns.start import Start

GUIDANCE = ("AGENTS.md", "CLAUDE.md")


async def prompt_of(
    loop: Loop, repo: RepositoryHandle, session: Session, turn: Turn, start: Start, wanted: Wanted | None, runtime: str
) -> str:
    """The text for the agent's stdin. Its one placeholder is the runner's `{turn_dir:MARKER}`."""
    said = turn.context
    async with loop.database.read() as tx:
        before = [each for each in await turns_of(tx, session.id) if each.number < turn.number]
    resumed = runtime in session.resume
    # what a conversation that goes on was told with its last turn need not be told again
    known = max((each.created_at for each in before if each.runtime == runtime), default=0.0) if resumed else 0.0
    about = contexts.Turn(
        repository=await repo.full_name(),
        branch=start.branch,
        base_branch=start.base_branch,
        base_sha=start.base_sha,
        asker=str(said.get("by") or ""),
        instruction=str(said.get("instruction") or ""),
        guidance=await _guidance(repo, session, start.base_sha),
        summary=recap(before, runtime, resumed=resumed),
        env_file=wanted.path if wanted and wanted.names else "",
    )
    body = contexts.Text(author=str(said.get("author") or ""), body=str(said.get("body") or ""), where="description")
    title, number = str(said.get("title") or session.title), session.subject_number or 0
    prompt: contexts.Prompt
    if turn.kind == "checks":
        prompt = contexts.ChecksPrompt(
            turn=about,
            sha=str(said["sha"]),
            checks=tuple(_check(each, turn.marker) for each in said["checks"]),
            attempt=int(said["attempt"]),
            cap=session.cap,
            number=session.pull_number,
            earlier=tuple(said.get("earlier") or ()),
            not_ours=tuple(said.get("not_ours") or ()),
        )
    elif turn.kind == "conflict":
        prompt = contexts.ConflictPrompt(
            turn=about,
            theirs=str(said["theirs"]),
            files=tuple(said.get("files") or ()),
            commits=tuple(said.get("commits") or ()),
        )
    elif turn.kind == "review":
        review = contexts.Text(author=str(said.get("by") or ""), body=str(turn.source.get("text") or ""))
        prompt = contexts.ReviewPrompt(
            turn=about,
            number=session.pull_number or number,
            title=title,
            review=review,
            comments=await _remarks(repo, session.pull_number or number, turn),
        )
    elif turn.kind == "pull":
        discussion = await _discussion(repo, number, turn, known)
        prompt = contexts.PullRequestPrompt(turn=about, number=number, title=title, body=body, discussion=discussion)
    else:
        discussion = await _discussion(repo, number, turn, known)
        prompt = contexts.IssuePrompt(turn=about, number=number, title=title, body=body, discussion=discussion)
    return render(prompt)


async def _discussion(repo: RepositoryHandle, number: int, turn: Turn, known: float) -> tuple[contexts.Text, ...]:
    """What others have said there since `known`, up to the comment that asked."""
    if not number:
        return ()
    until = str(turn.source.get("at") or "") or _at_github(turn.created_at)
    asked = int(turn.source.get("id") or 0)
    said = await comments.said_by_others(repo, number, after=_at_github(known), until=until, but=asked)
    return tuple(contexts.Text(author=each.author, body=each.body, where="comment", at=each.at) for each in said)


def _at_github(at: float) -> str:
    """UNIX seconds in the form in which GitHub tells times."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


async def _remarks(repo: RepositoryHandle, number: int, turn: Turn) -> tuple[contexts.ReviewComment, ...]:
    """The inline comments of the review that asked, or the one comment that asked."""
    source = turn.source
    if source.get("where") == "inline":
        one = contexts.ReviewComment(
            author=str(turn.context.get("by") or ""),
            body=str(source.get("text") or ""),
            path=str(source.get("path") or ""),
            line=int(source.get("line") or 0) or None,
            hunk=str(source.get("diff_hunk") or ""),
        )
        return (one,)
    if not source.get("review_id"):
        return ()
    submitted_at = str(source.get("at") or "")
    found = [each async for each in reviews.remarks(repo, number, int(source["review_id"]), submitted_at)]
    return tuple(
        contexts.ReviewComment(each.author, each.body, each.path, each.line or None, each.diff_hunk) for each in found
    )


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
    )


async def _guidance(repo: RepositoryHandle, session: Session, sha: str) -> tuple[contexts.Guidance, ...]:
    async def read(path: str) -> bytes | None:
        try:
            return await queries.file_at(repo, path, sha)
        except GitHubError:
            return None  # a file that is too large to read this way guides nobody

    found = await asyncio.gather(*map(read, GUIDANCE))
    guidance = [
        contexts.Guidance(path, content.decode("utf-8", "replace"))
        for path, content in zip(GUIDANCE, found, strict=True)
        if content is not None
    ]
    if instructions := str((session.config or {}).get("instructions") or ""):
        guidance.append(contexts.Guidance("the repository's settings", instructions))
    return tuple(guidance)
