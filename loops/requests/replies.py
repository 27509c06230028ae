"""Answers to requests in comments of their own, and the record of what was done for whom."""

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from github.client.errors import Locked
from github.client.repository import RepositoryHandle
from github.threads import comments
from github.webhooks.outcomes import Declined, Request, Subject
from loops.context import Clock
from loops.store.tables import Audit, Session

log = structlog.get_logger(__name__)


async def answer(repo: RepositoryHandle, request: Request | Declined, subject: Subject, body: str) -> None:
    """Answer in a comment of its own; twice is once. In a locked conversation nobody can be answered."""
    await reply(
        repo, subject.number, f"answer:{request.source.where.value}:{request.source.id or subject.number}", body
    )


async def reply(repo: RepositoryHandle, number: int, key: str, body: str) -> None:
    """Have our comment for `key` in a thread say `body`, where we may speak."""
    try:
        await comments.put_sticky(repo, number, key, body)
    except Locked as error:
        log.warning("request.unanswered", number=number, error=str(error))


def audit(clock: Clock, tx: AsyncSession, request: Request, action: str, session: Session | None) -> None:
    """Record what somebody had done."""
    tx.add(
        Audit(
            at=clock(),
            installation_id=request.repo.installation_id,
            session_id=session.id if session else None,
            actor=request.actor.login,
            surface="github",
            action=action,
            details={"why": request.why.value, "url": request.source.url},
        )
    )
