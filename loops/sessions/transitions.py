"""The moves of a session and of a turn from one status to another: one table each, which every move goes through."""

from collections.abc import Mapping
from typing import Final

from loops.store.outbox import note_state
from loops.store.states import SessionStatus, TurnStatus
from loops.store.tables import Session, Turn


class IllegalMove(Exception):
    """A status cannot become another one from where it is; nothing was changed."""


SESSION_MOVES: Final[Mapping[SessionStatus, frozenset[SessionStatus]]] = {
    SessionStatus.PENDING: frozenset(SessionStatus),
    SessionStatus.RUNNING: frozenset(SessionStatus) - {SessionStatus.PENDING},
    SessionStatus.WAITING: frozenset(SessionStatus) - {SessionStatus.PENDING},
    # somebody asks for more, or a later commit of work that ended well went red
    SessionStatus.COMPLETED: frozenset({SessionStatus.PENDING, SessionStatus.WAITING}),
    # somebody asks for more, or the checks that were waited for in vain came after all
    SessionStatus.FAILED: frozenset({SessionStatus.PENDING, SessionStatus.WAITING}),
    SessionStatus.CANCELLED: frozenset({SessionStatus.PENDING}),
}

TURN_MOVES: Final[Mapping[TurnStatus, frozenset[TurnStatus]]] = {
    TurnStatus.QUEUED: frozenset({TurnStatus.READY, TurnStatus.FAILED, TurnStatus.CANCELLED}),
    # back to QUEUED where its box was lost
    TurnStatus.READY: frozenset({TurnStatus.RUNNING, TurnStatus.QUEUED, TurnStatus.FAILED, TurnStatus.CANCELLED}),
    TurnStatus.RUNNING: frozenset({TurnStatus.REPORTED, TurnStatus.QUEUED, TurnStatus.FAILED, TurnStatus.CANCELLED}),
    TurnStatus.REPORTED: frozenset({TurnStatus.DONE, TurnStatus.QUEUED, TurnStatus.FAILED, TurnStatus.CANCELLED}),
    TurnStatus.DONE: frozenset(),
    TurnStatus.FAILED: frozenset(),
    TurnStatus.CANCELLED: frozenset(),
}


def move_session(session: Session, to: SessionStatus, at: float) -> None:
    """Give the session another status, and remember that others are to be told of it. `at`: UNIX seconds. Raises
    IllegalMove."""
    if to not in SESSION_MOVES[session.status]:
        raise IllegalMove(f"session {session.public_id} is {session.status}, which cannot become {to}")
    if session.status is not to:
        session.status = to
        note_state(session, at)


def move_turn(turn: Turn, to: TurnStatus) -> None:
    """Give the turn another status. Raises IllegalMove."""
    if to not in TURN_MOVES[turn.status]:
        raise IllegalMove(f"turn {turn.public_id} is {turn.status}, which cannot become {to}")
    turn.status = to


def turns_that_may_become(to: TurnStatus) -> tuple[TurnStatus, ...]:
    """The statuses from which a turn may become `to`: for updates that change rows where they stand."""
    return tuple(status for status, moves in TURN_MOVES.items() if to in moves)
