from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loops.boxes.queue import Bounds, MayStart, Up, Verdict, Wait, Waiting, Why, schedule, words

BOUNDS = Bounds(turns=3, installation_boxes=4, boxes=5)


def turn(number: int, person: int | None = None, *, installation: int = 1, home: bool = False) -> Waiting:
    owner = f"{installation}/{number if person is None else person}"
    return Waiting(number, installation, owner, spare_fits=not home)


def up(name: str, *, busy: bool = True, used: float = 0.0, installation: int = 1) -> Up:
    return Up(name, f"{installation}/{name}", installation, busy, used)


SPARE = Up("spare", None, None, busy=False, used_at=50.0)
MINE = Up("mine", "1/1", 1, busy=False, used_at=10.0)


@pytest.mark.parametrize(
    ("name", "waiting", "boxes", "verdicts"),
    [
        ("the first turn has a box made for it", [turn(1)], [], [MayStart()]),
        ("a box that is up is used again", [turn(1)], [MINE], [MayStart("mine")]),
        ("a busy box has one turn at a time", [turn(1)], [replace(MINE, busy=True)], [Wait(Why.OWN_BOX, 1)]),
        ("two turns of one person follow each other", [turn(1, 1), turn(2, 1)], [], [MayStart(), Wait(Why.OWN_BOX, 1)]),
        (
            "a full account waits, another one does not",
            [turn(1), turn(2), turn(3, installation=2)],
            [up("a"), up("b"), up("c")],
            [Wait(Why.TURNS, 1), Wait(Why.TURNS, 2), MayStart()],
        ),
        (
            "places are given in order",
            [turn(1), turn(2), turn(3)],
            [up("a"), up("b")],
            [MayStart(), Wait(Why.TURNS, 1), Wait(Why.TURNS, 2)],
        ),
        ("a newcomer takes a spare", [turn(1), turn(2)], [SPARE], [MayStart("spare"), MayStart()]),
        ("somebody with a home takes no spare", [turn(1, home=True)], [SPARE], [MayStart()]),
        (
            "an idle box makes room, the longest idle first",
            [turn(9, installation=2)],
            [
                up("a"),
                up("b", busy=False, used=2),
                up("c", busy=False, used=1),
                up("d"),
                up("e", installation=3),
            ],
            [MayStart(None, ("c",))],
        ),
        (
            "an account that is full of idle boxes gives up one of its own",
            [turn(9)],
            [up("z", busy=False, installation=2), *(up(name, busy=False, used=3) for name in "abcd")],
            [MayStart(None, ("a",))],
        ),
        (
            "where both bounds are met by one idle box of the account it makes room for both",
            [turn(9)],
            [up("idle", busy=False), up("a", installation=2), *(up(name, busy=False, used=9) for name in "bcd")],
            [MayStart(None, ("idle",))],
        ),
        (
            "above a bound that was lowered as many go as have to, and none twice",
            [turn(9)],
            [*(up(name, busy=False, used=9) for name in "abcdef"), up("z", busy=False, installation=2)],
            [MayStart(None, ("a", "b", "c"))],
        ),
        (
            "what cannot make enough room makes none",
            [turn(9)],
            [up("idle", busy=False), *(up(name, installation=2) for name in "abcdef")],
            [Wait(Why.BOXES, 1)],
        ),
        (
            "with all boxes at work everybody waits in one line",
            [turn(7, installation=7), turn(8, installation=8)],
            [up(name, installation=number) for number, name in enumerate("abcde")],
            [Wait(Why.BOXES, 1), Wait(Why.BOXES, 2)],
        ),
        (
            "a spare makes room for somebody whom it does not fit",
            [turn(9, installation=9, home=True)],
            [SPARE, *(up(name, installation=number) for number, name in enumerate("abcd"))],
            [MayStart(None, ("spare",))],
        ),
        (
            "a box given to the first in line is no longer there for its owner behind",
            [turn(9, installation=9), turn(1, 1)],
            [MINE, *(up(name, installation=number) for number, name in enumerate("abcd", 2))],
            [MayStart(None, ("mine",)), Wait(Why.BOXES, 1)],
        ),
    ],
)
def test_the_line(name: str, waiting: list[Waiting], boxes: list[Up], verdicts: list[Verdict]) -> None:
    assert list(schedule(waiting, boxes, BOUNDS).values()) == verdicts, name


def test_an_account_whose_boxes_are_all_at_work_waits_though_it_may_run_more_turns() -> None:
    narrow = replace(BOUNDS, turns=9, installation_boxes=2)
    assert schedule([turn(1)], [up("a"), up("b")], narrow) == {1: Wait(Why.INSTALLATION_BOXES, 1)}


@pytest.mark.parametrize("why", list(Why))
def test_every_wait_is_said_in_a_sentence(why: Why) -> None:
    assert words(Wait(why, 1), BOUNDS).endswith(".")


BOXES = st.lists(
    st.builds(
        Up,
        st.sampled_from("abcdefgh"),
        st.none() | st.sampled_from(["1/1", "1/2", "2/1", "gone"]),
        st.none() | st.integers(1, 3),
        st.booleans(),
        st.sampled_from([0.0, 1.0, 2.0]),
    ),
    max_size=8,
)
TURNS = st.lists(st.builds(turn, st.integers(1, 9), st.integers(1, 3), installation=st.integers(1, 3)), max_size=8)
LIMITS = st.builds(Bounds, st.integers(1, 3), st.integers(1, 4), st.integers(1, 5))


@given(TURNS, BOXES, LIMITS)
def test_whatever_rows_there_are_each_turn_gets_an_answer_and_no_box_ends_that_works_or_twice(
    waiting: list[Waiting], boxes: list[Up], bounds: Bounds
) -> None:
    waiting = list({each.turn: each for each in waiting}.values())
    there = {box.name: box for box in boxes}
    verdicts = schedule(waiting, there.values(), bounds)
    assert set(verdicts) == {each.turn for each in waiting}
    ended = [name for verdict in verdicts.values() if isinstance(verdict, MayStart) for name in verdict.ends]
    assert len(set(ended)) == len(ended)
    assert not [name for name in ended if name in there and there[name].busy]
    made = sum(isinstance(verdict, MayStart) and verdict.box is None for verdict in verdicts.values())
    assert not made or len(there) - len(ended) + made <= max(bounds.boxes, sum(box.busy for box in there.values()))
