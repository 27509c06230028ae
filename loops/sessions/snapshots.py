"""The picture of a session that decisions are made from, read from its rows."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from github.repositories.config import Checks, RepositoryConfig
from loops.options import LoopOptions
from loops.sessions.decide import ChecksSnapshot, SessionSnapshot, TurnSnapshot, Waits
from loops.store.states import TurnStatus
from loops.store.tables import Session, Turn


def rules(options: LoopOptions, config: dict[str, Any] | None) -> Checks:
    """Which checks count and when they have settled: what the repository sets wins over our settings."""
    ours = {"settle_seconds": options.settle_seconds, "longest_wait_minutes": options.longest_wait_minutes}
    return Checks.model_validate({**ours, **((config or {}).get("checks") or {})})


BOX_LOOK_SECONDS = 5.0
"""A cluster does not announce everything: of a volume that does not come only its claim tells."""


def settings(config: dict[str, Any] | None) -> RepositoryConfig:
    """The repository's settings as a session keeps them: only what was set; the rest are defaults."""
    return RepositoryConfig.model_validate(config or {})


def waits(options: LoopOptions, session: Session) -> Waits:
    """The session's times, in seconds."""
    checks = rules(options, session.config)
    return Waits(
        longest=checks.longest_wait_minutes * 60,
        poll=options.poll_seconds,
        box_silence=options.box_silence,
        box_look=min(BOX_LOOK_SECONDS, options.box_start_seconds),
        settle=min(checks.settle_seconds, options.poll_seconds),
        first_look=min(2 * checks.settle_seconds, options.poll_seconds),  # by then it is known whether any check comes
    )


def snapshot(
    session: Session, turns: Sequence[Turn], options: LoopOptions, now: float, *, waiting: int = 0
) -> SessionSnapshot:
    """What `decide` needs of these rows; `turns` in their order. `waiting`: the installation's waiting sessions."""
    return SessionSnapshot(
        status=session.status,
        turns=tuple(map(turn_snapshot, turns)),
        waits=waits(options, session),
        now=now,
        cancel_by=session.cancel_by,
        head=session.head_sha,
        pull=session.pull_number,
        draft=bool(session.pull_draft),
        pushed_at=session.pushed_at or 0.0,
        ready_at=session.ready_at or 0.0,
        hint_at=session.hint_at or 0.0,
        checks=checks_snapshot(session),
        waiting=waiting,
    )


def turn_snapshot(turn: Turn) -> TurnSnapshot:
    """A turn as far as decisions need it."""
    return TurnSnapshot(
        id=turn.id,
        kind=turn.kind,
        status=turn.status,
        by_person=turn.requested_by is not None,
        commit=turn.commit_sha,
        error=turn.error,
        answered=turn.status == TurnStatus.DONE and turn.commit_sha is None and bool(turn.message),
        stop_reason=turn.stop_reason,
        ready_at=turn.handed_at or turn.started_at or turn.created_at,
        heard_at=turn.heartbeat_at,
        trouble=turn.trouble_at is not None,
    )


def checks_snapshot(session: Session) -> ChecksSnapshot | None:
    """The session's head as it was last asked for; None where it never was."""
    found = session.checks
    if found is None or session.checks_at is None:
        return None
    return ChecksSnapshot(
        sha=str(found["sha"]),
        state=str(found["state"]),
        asked_at=session.checks_at,
        look_again=found.get("look_again"),
        explanation=str(found.get("explanation") or ""),
        suffices=bool(found.get("suffices")),
        left_alone=bool(found.get("left_alone")),
    )


async def turns_of(tx: AsyncSession, session_id: int) -> list[Turn]:
    """The session's turns in their order."""
    found = await tx.execute(select(Turn).where(Turn.session_id == session_id).order_by(Turn.number))
    return list(found.scalars())
