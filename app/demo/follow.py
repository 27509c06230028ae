"""Following the demo's session: what is new, read from the database and the local GitHub."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from app.demo.world import World
from loops.store.database import Database
from loops.store.journal import after
from loops.store.states import OPEN_SESSION
from loops.store.tables import Attempt, Delivery, Event, Session, Turn
from loops.turns.finishing.report import Report
from loops.turns.verified import is_verified

LOOK_SECONDS = 0.15


@dataclass(frozen=True)
class RequestRefused:
    """No session began; `reason` is what was recorded with the delivery."""

    reason: str


async def follow(database: Database, *, seconds: float) -> AsyncIterator[Session | Event | RequestRefused]:
    """The session as soon as it is there, its events as they come, and the session again once it has ended.

    Ends with RequestRefused when every delivery was handled and none began a session, without an end after `seconds`.
    """
    deadline = asyncio.get_running_loop().time() + seconds
    seen = 0
    session: Session | None = None
    while asyncio.get_running_loop().time() < deadline:
        async with database.read() as tx:
            if session is None:
                session = (await tx.execute(select(Session).order_by(Session.id).limit(1))).scalar_one_or_none()
                if session is not None:
                    yield session
                elif refused := await _refused(database):
                    yield refused
                    return
            if session is not None:
                found = await tx.get_one(Session, session.id, populate_existing=True)
                for event in await after(tx, session.id, seen):
                    seen = event.seq
                    yield event
                if found.status not in OPEN_SESSION and found.lease_until is None and seen == found.event_seq:
                    yield found
                    return
        await asyncio.sleep(LOOK_SECONDS)


async def _refused(database: Database) -> RequestRefused | None:
    async with database.read() as tx:
        found = await tx.execute(select(Delivery).where(Delivery.event == "issue_comment", Delivery.status == "done"))
        delivery = found.scalars().first()
    if delivery is None or delivery.decision in ("started", "continued"):
        return None
    return RequestRefused(f"{delivery.decision}: {delivery.reason}")


async def report(database: Database, world: World, issue: int) -> dict[str, Any]:
    """The demo's result as one JSON object."""
    async with database.read() as tx:
        session = (await tx.execute(select(Session).order_by(Session.id).limit(1))).scalar_one_or_none()
        if session is None:
            return {"session": None, "outcome": None, "reason": "no session began", "turns": [], "attempts": 0}
        turns = (await tx.execute(select(Turn).where(Turn.session_id == session.id).order_by(Turn.number))).scalars()
        attempts = (
            await tx.execute(select(func.count()).select_from(Attempt).where(Attempt.session_id == session.id))
        ).scalar_one()
        events = session.event_seq
        told = [
            {
                "trigger": turn.trigger,
                "status": turn.status,
                "changed_files": list(turn.changed_files),
                "commit": turn.commit_sha,
                "tree": turn.tree_sha,
                "retries": turn.retries,
                "afresh": turn.afresh,
                "verified": bool(turn.result) and is_verified(turn, Report.of(turn).result),
                "rounds": len(turn.rounds) + 1,
            }
            for turn in turns
        ]
    return {
        "session": session.public_id,
        "status": session.status,
        "outcome": session.outcome or session.status,
        "reason": session.reason,
        "notes": list(session.notes),
        "attempts": attempts,
        "turns": told,
        "pull_request": await world.pull_request(session.pull_number),
        "commits": await world.commits(session.pull_number),
        "default_branch_moved": await world.default_branch_moved(),
        "comments": len(await world.our_comments(issue, session.pull_number)),
        "events": events,
    }
