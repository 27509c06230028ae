"""A reviewer's thread gets its answer, and is resolved, when the turn that it asked for has landed."""

import structlog
from sqlalchemy import select

from github import reviews
from github.errors import Invalid, NotFound, PermissionMissing
from github.repository import Repository as Handle
from loops.context import Loop
from loops.steps.facts import put_effect
from loops.tables import Effect, Session, Turn

log = structlog.get_logger(__name__)

KIND = "thread"


async def answer_threads(loop: Loop, repo: Handle, session: Session, turns: list[Turn]) -> None:
    """Answer the threads whose turns have a commit; each once."""
    if session.pull_number is None:
        return
    for turn in turns:
        thread = int(turn.source.get("thread_id") or 0)
        if not thread or turn.commit_sha is None:
            continue
        async with loop.database.read() as tx:
            done = await tx.execute(
                select(Effect.id).where(
                    Effect.session_id == session.id, Effect.kind == KIND, Effect.key == turn.public_id
                )
            )
            if done.first() is not None:
                continue
        said = (turn.message or "").strip()[:1000] if turn.runtime != "command" else ""
        body = f"Done in {turn.commit_sha}." + (f"\n\n{said}" if said else "")
        reply_id = 0
        try:
            reply_id = await reviews.reply(repo, session.pull_number, thread, turn.public_id, body)
            await reviews.resolve(repo, session.pull_number, thread)
        except (NotFound, PermissionMissing, Invalid) as error:
            log.warning("thread.not_answered", session=session.public_id, thread=thread, error=str(error))
        async with loop.database.write() as tx:
            await put_effect(tx, session.id, KIND, turn.public_id, str(reply_id), None, loop.clock())
