"""The room that both gateways give their turns."""

import contextlib

import pytest

from app.gateway.room import NoRoom, Room


def test_a_turn_has_so_many_places_and_others_have_theirs() -> None:
    room = Room(at_once=2, held=1000)
    with room.place(1), room.place(1):
        with pytest.raises(NoRoom) as refused, room.place(1):
            pass
        assert refused.value.status == 429
        with room.place(2):
            pass
    with room.place(1), room.place(1):
        pass


@pytest.mark.parametrize(
    ("holding", "turn", "size", "fits"),
    [
        ([], 1, 1000, True),
        ([], 1, 1001, False),
        ([(1, 200)], 1, 50, True),
        ([(1, 200)], 1, 51, False),
        ([(1, 200)], 2, 800, True),
        ([(1, 200)], 2, 801, False),
    ],
    ids=["one alone", "more than all", "its quarter", "beyond its quarter", "another's", "beyond what is left"],
)
def test_no_turn_takes_more_than_a_quarter_of_the_bytes_but_for_a_single_request(
    holding: list[tuple[int, int]], turn: int, size: int, fits: bool
) -> None:
    room = Room(at_once=9, held=1000)
    with contextlib.ExitStack() as held:
        for whose, much in holding:
            held.enter_context(room.bytes(whose, much))
        outcome = contextlib.nullcontext() if fits else pytest.raises(NoRoom)
        with outcome, room.bytes(turn, size):
            pass
    with room.bytes(turn, 1000):
        pass
