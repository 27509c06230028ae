"""Buttons of our check run: which conversation they stand in."""

from sqlalchemy import select

from github.webhooks.commands import Approve
from github.webhooks.outcomes import Request, Subject
from github.webhooks.sources import CheckButton
from loops.store.database import Database
from loops.store.states import SubjectKind
from loops.store.tables import Session


async def subject_of_button(database: Database, request: Request) -> Subject | None:
    """The issue or pull request of the session that our check run names, or that watches its commit."""
    button = request.source
    if not isinstance(button, CheckButton):
        return None
    async with database.read() as tx:
        query = select(Session).where(Session.repository_id == request.repo.id)
        if button.external_id:
            query = query.where(Session.public_id == button.external_id)
        else:
            query = query.where(Session.head_sha == button.sha).order_by(Session.id.desc())
        session = (await tx.execute(query.limit(1))).scalar_one_or_none()
    if session is None:
        return None
    # a fork is approved where it stands, also when our pull request from it is open
    own = None if isinstance(request.command, Approve) else session.pull_number
    number = own or session.subject_number
    is_pull = own is not None or session.subject_kind is SubjectKind.PULL
    return None if number is None else Subject(number, is_pull=is_pull, title=session.title)
