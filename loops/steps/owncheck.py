"""Our own check run on the head commit: the state in one line, and buttons to stop or to go on."""

import structlog

from github.checkruns import Button, OwnCheck, put_check
from github.errors import Invalid, NotFound, PermissionMissing
from github.repository import Repository as Handle
from loops.context import Loop
from loops.decide import OPEN_SESSION
from loops.steps.effects import show
from loops.story import Story, headline
from loops.tables import Session

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

    async def put(known: int | None) -> int | None:
        try:
            return await put_check(repo, wanted, check_run_id=known)
        except (PermissionMissing, NotFound, Invalid) as error:
            log.warning("check.not_shown", session=session.public_id, error=str(error))
            return None

    said = repr((wanted.title, wanted.conclusion, wanted.buttons, body))
    await show(loop, session.id, KIND, session.head_sha, said, put)
