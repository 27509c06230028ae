"""Our own check run on the head commit: the state in one line, and buttons to stop or to go on."""

from functools import partial

import structlog

from github.checks.our_check_run import Button, Note, OwnCheck, annotate, put_check
from github.client.errors import Invalid, NotFound, Paced, PermissionMissing
from github.client.repository import RepositoryHandle
from github.webhooks.commands import APPROVE
from loops.comments.status_comment import StatusComment, headline
from loops.context import Loop
from loops.sessions import effects
from loops.sessions.explanations import code_of
from loops.sessions.reasons import Reason
from loops.store.states import OPEN_SESSION
from loops.store.tables import Session

log = structlog.get_logger(__name__)

KIND = "check"
NOTES = "annotations"
STOP = Button("Stop", "End this session now", "stop")
RETRY = Button("Try again", "Another turn with the same task", "retry")
REPAIR = Button("Repair from now on", "Repair red checks here again", "autofix-on")
NO_REPAIR = Button("No repairs", "Leave red checks here alone", "autofix-off")
SUPERSEDED = "superseded"


async def _close_former(loop: Loop, repo: RepositoryHandle, session: Session, comment: StatusComment, sha: str) -> None:
    """Nobody shall wait for our check on a commit that is not the head any more."""
    async with loop.database.read() as tx:
        former = await effects.others(tx, session.id, KIND, sha)
    for effect in former:
        ended = OwnCheck(
            sha=effect.key,
            external_id=session.public_id,
            title="Went on with a newer commit",
            summary=f"The work goes on with {sha}.",
            conclusion="neutral",
            details_url=comment.url,
        )
        await effects.show(loop, session.id, KIND, effect.key, SUPERSEDED, partial(_put, repo, ended))


async def _put(repo: RepositoryHandle, wanted: OwnCheck, known: int | None, perhaps: bool) -> int | None:
    try:
        return await put_check(repo, wanted, check_run_id=known, new=not perhaps)
    except (PermissionMissing, NotFound, Invalid, Paced) as error:
        log.warning("check.not_shown", session=wanted.external_id, error=str(error))
        return None


async def show_check(loop: Loop, repo: RepositoryHandle, session: Session, comment: StatusComment, body: str) -> None:
    """Bring the check run on the head up to date; nothing is sent when it says the same already."""
    sha = session.approved_sha if _asks(session) else session.head_sha
    if sha is None:
        return
    await _close_former(loop, repo, session, comment, sha)
    open_now = session.status in OPEN_SESSION
    repairs = NO_REPAIR if comment.autofix else REPAIR
    wanted = OwnCheck(
        sha=sha,
        external_id=session.public_id,
        title=headline(comment),
        summary=body,
        # GitHub shows the buttons of completed check runs only, and *Stop* is wanted while the work goes on
        conclusion="success" if session.outcome == "green" and not open_now else "neutral",
        details_url=comment.url,
        buttons=_buttons(session, repairs, sha),
    )
    said = repr((wanted.title, wanted.conclusion, wanted.buttons, body))
    await effects.show(loop, session.id, KIND, sha, said, partial(_put, repo, wanted))
    await _annotate(loop, repo, session, comment)


def _asks(session: Session) -> bool:
    """Whether a fork's commit waits for an approval, and people were told what that means."""
    return session.needs_approval and code_of(session.reason or "") == Reason.FORK_UNAPPROVED


def _buttons(session: Session, repairs: Button, sha: str) -> tuple[Button, ...]:
    if _asks(session):
        return (Button(f"Approve {sha[:12]}", "Run this fork's code with secrets here", f"{APPROVE}{sha[:12]}"),)
    if session.status in OPEN_SESSION:
        return (STOP, repairs)
    return (RETRY, repairs) if session.outcome != "green" else (repairs,)


async def _annotate(loop: Loop, repo: RepositoryHandle, session: Session, comment: StatusComment) -> None:
    """What is red, on file and line: once for each head, since GitHub never takes an annotation back."""
    notes = tuple(
        Note(place.path, place.line, f"{check.name}: {place.message}")
        for check in comment.evidence
        for place in check.places
    )
    if not notes or session.head_sha is None:
        return
    async with loop.database.read() as tx:
        shown = await effects.find(tx, session.id, KIND, session.head_sha)
    if shown is None or shown.external_id == effects.BEGUN:
        return
    check = int(shown.external_id)

    async def put(_: int | None, _perhaps: bool) -> int | None:
        try:
            await annotate(repo, check, notes)
        except (PermissionMissing, NotFound, Invalid) as error:
            log.warning("check.not_annotated", session=session.public_id, error=str(error))
        return check

    await effects.show(loop, session.id, NOTES, session.head_sha, "annotated", put)
