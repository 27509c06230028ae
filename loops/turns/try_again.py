"""A turn that its provider refused, or that ran out of context: whether it runs once more, and when."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncSession

from loops.accounts.limited import fallback_of, limit
from loops.boxes.box import restart_turn
from loops.context import Loop
from loops.runtimes.failures import WORDS, FailureKind
from loops.sessions.agent_conversation import forget
from loops.store import journal
from loops.store.tables import Profile, Session, Turn
from loops.turns.finishing.report import Report

TRIES = 6
"""Times that a turn is tried again before its provider's trouble is taken for one that stays."""
LONGEST_PAUSE = 1800.0
LONGEST_WAIT = 6 * 3600.0
"""Seconds; a provider that wants to be left alone for longer has people told at once."""
ACCOUNT_SECONDS = 900.0
"""How long an account whose key or budget was refused is left alone, unless the provider tells a time."""

_WAITS = {
    FailureKind.RATE_LIMIT: "The model's provider limits how fast its account may go",
    FailureKind.OVERLOADED: "The model's provider is overloaded",
    FailureKind.NETWORK: "The model cannot be reached",
}
AFRESH = "The conversation grew too long for the model: the agent begins a new one, with a summary of that."
NEXT_ACCOUNT = "The provider refused the account: the turn goes on with the next one."


@dataclass(frozen=True)
class Again:
    """The turn runs once more, not before `at`; `waits` says why. `afresh`: in a new conversation."""

    at: float
    waits: str
    afresh: bool = False


def pause(tries: int, retry_after: float | None, first: float, jitter: float) -> float | None:
    """Seconds until a turn that was tried `tries` times again is tried once more; None: it is not.

    `first` doubles with each time, the provider's own time (`retry_after`) wins, and `jitter` (0 to 1) adds up to a
    fifth, so that many turns do not come at once.
    """
    wait = min(first * 2**tries, LONGEST_PAUSE) if retry_after is None else max(retry_after, 1.0)
    return None if tries >= TRIES or wait > LONGEST_WAIT else wait * (1 + jitter / 5)


def wanted(refused_until: float | None, retry_after: float | None, now: float) -> float | None:
    """Seconds for which the provider wants to be left alone: as the gateway was told, else as the agent said."""
    return refused_until - now if refused_until is not None and refused_until > now else retry_after


async def try_again(tx: AsyncSession, loop: Loop, session: Session, row: Turn, report: Report) -> bool:
    """Queue the turn once more where its failure passes, or can be got round; the account is spared meanwhile."""
    if report.failure is None:
        return False
    profile = await tx.get(Profile, row.profile_id) if row.profile_id is not None else None
    now = loop.clock()
    told = wanted(row.refused_until, report.retry_after, now)
    again = await next_try(tx, row, report.failure, profile, told, now, loop.options.overload_seconds)
    if again is None:
        return False
    if again.afresh or report.result.changes:
        # its checkout is gone with the box's turn: a conversation that remembers edits would build on nothing
        forget(session, row.runtime or "")
    row.afresh = row.afresh or again.afresh
    restart_turn(row, again.waits, retry_at=again.at)
    await journal.append(tx, row.session_id, [("status", {"text": again.waits})], at=now, turn_id=row.id)
    return True


async def next_try(
    tx: AsyncSession,
    row: Turn,
    kind: FailureKind,
    profile: Profile | None,
    told: float | None,
    now: float,
    first: float,
) -> Again | None:
    """When and how the turn runs again after a failure of that kind; None: not by itself.

    `told`: seconds for which the provider wants to be left alone, for which the `profile` is, whatever becomes of this
    turn. `first`: seconds of the first pause.
    """
    match WORDS[kind].way:
        case "fresh":
            return None if row.afresh else Again(now, AFRESH, afresh=True)
        case "later":
            wait = pause(row.retries, told, first, random.random())  # noqa: S311
            if kind is FailureKind.RATE_LIMIT and profile is not None:
                limit(profile, kind, now + (wait or told or ACCOUNT_SECONDS))
                # limits that are over soon could send a turn round and round
                if row.retries < TRIES and await fallback_of(tx, profile, now) is not None:
                    return Again(now, NEXT_ACCOUNT)
            if wait is None:
                return None
            return Again(now + wait, f"{_WAITS[kind]}: the turn is tried again at {clock(now + wait, now)}.")
        case "account" if profile is not None:
            limit(profile, kind, now + (told or ACCOUNT_SECONDS))
            return Again(now, NEXT_ACCOUNT) if await fallback_of(tx, profile, now) is not None else None
    return None


def clock(at: float, now: float) -> str:
    """A time for people: in UTC, with the day where it is not within the next twelve hours."""
    then = datetime.fromtimestamp(at, UTC)
    return f"{then:%H:%M:%S} UTC" if at - now < 12 * 3600 else f"{then:%Y-%m-%d %H:%M} UTC"
