"""Where a session and a turn may go from where they are, and that every move of the code is one of these."""

import re
from itertools import product
from pathlib import Path

import pytest

from loops.sessions.transitions import (
    SESSION_MOVES,
    TURN_MOVES,
    IllegalMove,
    move_session,
    move_turn,
    turns_that_may_become,
)
from loops.store.states import OPEN_SESSION, OPEN_TURN, SessionStatus, TurnStatus
from loops.store.tables import Session, Turn

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("now", "to"), list(product(SessionStatus, SessionStatus)))
def test_a_session_moves_where_the_table_says_and_stays_where_it_is_otherwise(
    now: SessionStatus, to: SessionStatus
) -> None:
    session = Session(public_id="s_1", status=now)
    if to in SESSION_MOVES[now]:
        move_session(session, to, 0.0)
        assert session.status is to
    else:
        with pytest.raises(IllegalMove, match=f"s_1 is {now}, which cannot become {to}"):
            move_session(session, to, 0.0)
        assert session.status is now


@pytest.mark.parametrize(("now", "to"), list(product(TurnStatus, TurnStatus)))
def test_a_turn_moves_where_the_table_says_and_stays_where_it_is_otherwise(now: TurnStatus, to: TurnStatus) -> None:
    turn = Turn(public_id="t_1", status=now)
    if to in TURN_MOVES[now]:
        move_turn(turn, to)
        assert (turn.status, now in turns_that_may_become(to)) == (to, True)
    else:
        with pytest.raises(IllegalMove, match=f"t_1 is {now}, which cannot become {to}"):
            move_turn(turn, to)
        assert (turn.status, now in turns_that_may_become(to)) == (now, False)


def test_what_is_over_stays_over_but_a_session_that_is_asked_for_more() -> None:
    for status in set(TurnStatus) - set(OPEN_TURN):
        assert not TURN_MOVES[status]
    for ended in set(SessionStatus) - set(OPEN_SESSION):
        assert SessionStatus.PENDING in SESSION_MOVES[ended] and SessionStatus.RUNNING not in SESSION_MOVES[ended]


def test_no_other_code_sets_a_status_of_a_session_or_a_turn() -> None:
    sets = re.compile(r"^\s*(?:\w*session|\w*turn|row|fresh)\.status(?:, [\w., ]+)? = ", re.MULTILINE)
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "loops").rglob("*.py") if sets.search(path.read_text())}
    assert found == {"loops/sessions/transitions.py"}
