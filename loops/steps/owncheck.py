"""Our own check run on the head commit: the state in one line, and buttons to stop or to go on."""

import hashlib

import structlog
from sqlalchemy import select

from github.checkruns import Button, OwnCheck, put_check
from github.errors import Invalid, NotFound, PermissionMissing
from github.repository import Repository as Handle
from loops.context import Loop
from loops.decide import OPEN_SESSION
from loops.steps.facts import put_effect
from loops.story import Story, headline
from loops.tables import Effect, Session

log = structlog.get_logger(__name__)

KIND = "check"
STOP = Button("Stop", "End this session now", "stop")
RETRY = Button("Try again", "Another turn with the same task", "retry")


async def show_check(loop: Loop, repo: Handle, session: Session, story: Story, body: str) -> None:
    """Bring the check run on the head up to date; nothing is sent when it says the same already."""
    if session.head_sha is None:
        return
    open_now = session.status in OPEN_SESSION
    wanted = OwnCheck(
        sha=session.head_sha,
        external_id=session.public_id,
        title=headline(story),
        summary=body,
        conclusion="" if open_now else "success" if session.outcome == "green" else "neutral",
        details_url=story.url,
        buttons=(STOP,) if open_now else (RETRY,) if session.outcome != "green" else (),
    )
    digest = hashlib.sha256(repr((wanted.title, wanted.conclusion, body)).encode()).hexdigest()
    async with loop.database.read() as tx:
        found = await tx.execute(
            select(Effect).where(Effect.session_id == session.id, Effect.kind == KIND, Effect.key == session.head_sha)
        )
        effect = found.scalar_one_or_none()
    if effect is not None and effect.digest == digest:
        return
    try:
        known = int(effect.external_id) if effect else None
        run_id = await put_check(repo, wanted, check_run_id=known)
    except (PermissionMissing, NotFound, Invalid) as error:
        log.warning("check.not_shown", session=session.public_id, error=str(error))
        return
    async with loop.database.write() as tx:
        await put_effect(tx, session.id, KIND, session.head_sha, str(run_id), digest, loop.clock())
