"""How often heads are looked at without a webhook, and that ten thousand of them leave most of the budget alone."""

import heapq
from collections import Counter

import pytest

from loops.sessions.decide import (
    ChecksSnapshot,
    Finish,
    LookAtChecks,
    SessionSnapshot,
    Sleep,
    TurnSnapshot,
    Waits,
    decide,
)
from loops.sessions.polling import LONGEST, pause
from loops.store.states import SessionStatus, TurnKind, TurnStatus

BUDGET = 5_000  # requests that GitHub allows an installation an hour, of REST and of GraphQL
LONGEST_WAIT = 24 * 3600.0
TURN = TurnSnapshot(1, TurnKind.ISSUE, TurnStatus.DONE, by_person=True, commit="c")


@pytest.mark.parametrize(
    ("idle", "waiting", "seconds"),
    [
        (0, 1, 60),
        (240, 1, 60),
        (1200, 1, 300),
        (86_400, 1, LONGEST),
        (0, 1_000, 1_800),
        (86_400, 10_000, 18_000),
    ],
)
def test_polls_back_off_to_minutes_and_make_room_for_each_other(idle: float, waiting: int, seconds: float) -> None:
    assert pause(60, idle, waiting) == seconds


def test_a_longer_first_pause_is_never_cut_short() -> None:
    assert pause(3_600, 0, 1) == pause(3_600, 86_400, 1) == 3_600


def looks(sessions: int, hours: int, state: str = "running") -> Counter[int]:
    """The looks of each hour at heads of which no webhook ever comes. A session that ends gives way to another."""
    counted: Counter[int] = Counter()
    begun = [number * LONGEST_WAIT / sessions for number in range(sessions)]
    due = [(at, number, at, at) for number, at in enumerate(begun)]
    heapq.heapify(due)
    while due[0][0] < LONGEST_WAIT + hours * 3600:
        now, number, pushed, asked = heapq.heappop(due)
        if now - pushed >= LONGEST_WAIT:
            pushed = asked = now
        checks = ChecksSnapshot("c", state, asked_at=asked, look_again=pushed + LONGEST_WAIT)
        waits = Waits(longest=LONGEST_WAIT, poll=60, box_silence=60, box_look=5)
        snapshot = SessionSnapshot(
            SessionStatus.WAITING, (TURN,), waits, now, head="c", pushed_at=pushed, checks=checks, waiting=sessions
        )
        match decide(snapshot):
            case LookAtChecks():
                if now >= LONGEST_WAIT:  # until then the sessions are still coming
                    counted[int((now - LONGEST_WAIT) // 3600)] += 1
                heapq.heappush(due, (now, number, pushed, now))
            case Sleep(until):
                assert until is not None
                heapq.heappush(due, (until, number, pushed, asked))
            case Finish():
                heapq.heappush(due, (now, number, now, now))
            case other:
                raise AssertionError(other)
    return counted


@pytest.mark.parametrize("state", ["running", "cancelled", "awaiting_approval"])
def test_ten_thousand_waiting_sessions_stay_below_half_of_an_installations_budget(state: str) -> None:
    """A look is one query, and one request that counts where its token is another than the last time."""
    counted = looks(10_000, hours=6, state=state)
    assert len(counted) == 6
    assert max(counted.values()) < BUDGET / 2


def test_a_few_waiting_sessions_are_polled_as_often_as_is_good_for_them() -> None:
    assert min(looks(10, hours=6).values()) >= 10 * 3600 / LONGEST / 2
