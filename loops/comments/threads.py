"""A reviewer's thread gets its answer, and is resolved, when the turn that it asked for has landed."""

from functools import partial

import structlog

from github.client.errors import Invalid, NotFound, PermissionMissing
from github.client.repository import RepositoryHandle
from github.threads import reviews
from loops.context import Loop
from loops.runtimes import registry
from loops.sessions.effects import show
from loops.store.tables import Session, Turn

log = structlog.get_logger(__name__)

KIND = "thread"


async def answer_threads(loop: Loop, repo: RepositoryHandle, session: Session, turns: list[Turn]) -> None:
    """Answer the threads whose turns have a commit; each once."""
    for turn in turns:
        thread = int(turn.source.get("thread_id") or 0)
        if session.pull_number and thread and turn.commit_sha:
            said = (turn.message or "").strip()[:1000] if registry.answers(turn.runtime) else ""
            body = f"Done in {turn.commit_sha}." + (f"\n\n{said}" if said else "")
            put = partial(_answer, repo, session.pull_number, thread, turn.public_id, body)
            await show(loop, session.id, KIND, turn.public_id, body, put)


async def _answer(repo: RepositoryHandle, number: int, thread: int, key: str, body: str, _known: int | None) -> int:
    """The id of the answer, 0 where the thread takes none any more."""
    answered = 0
    try:
        answered = await reviews.reply(repo, number, thread, key, body)
        await reviews.resolve(repo, number, thread)
    except (NotFound, PermissionMissing, Invalid) as error:
        log.warning("thread.not_answered", number=number, thread=thread, error=str(error))
    return answered
