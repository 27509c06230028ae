"""A reviewer's thread gets its answer, and is resolved, when the turn that it asked for has landed."""

from functools import partial

import structlog

from github.client.defuse import defused
from github.client.errors import Invalid, NotFound, PermissionMissing
from github.client.repository import RepositoryHandle
from github.threads import reviews
from loops.context import Loop
from loops.runtimes import registry
from loops.sessions.ask import ReviewText
from loops.sessions.ask_columns import ask_of
from loops.sessions.effects import show
from loops.store.tables import Session, Turn

log = structlog.get_logger(__name__)

KIND = "thread"


async def answer_threads(loop: Loop, repo: RepositoryHandle, session: Session, turns: list[Turn]) -> None:
    """Answer the threads whose turns have a commit; each once."""
    for turn in turns:
        if session.pull_number and turn.commit_sha:
            said = defused((turn.message or "").strip()[:1000]) if registry.answers(turn.runtime) else ""
            body = f"Done in {turn.commit_sha}." + (f"\n\n{said}" if said else "")
            for number, thread in enumerate(_threads(turn)):
                key = f"{turn.public_id}:{number}" if number else turn.public_id
                await show(
                    loop, session.id, KIND, key, body, partial(_answer, repo, session.pull_number, thread, key, body)
                )


def _threads(turn: Turn) -> list[int]:
    """The threads whose remarks asked for this turn, by their first comments."""
    about = ask_of(turn).about
    remarks = about.remarks if isinstance(about, ReviewText) else ()
    return list(dict.fromkeys(each.thread_id for each in remarks if each.asks and each.thread_id))


async def _answer(
    repo: RepositoryHandle, number: int, thread: int, key: str, body: str, _known: int | None, _perhaps: bool
) -> int:
    """The id of the answer, 0 where the thread takes none any more."""
    answered = 0
    try:
        answered = await reviews.reply(repo, number, thread, key, body)
        await reviews.resolve(repo, number, thread)
    except (NotFound, PermissionMissing, Invalid) as error:
        log.warning("thread.not_answered", number=number, thread=thread, error=str(error))
    return answered
