import itertools
from dataclasses import replace

import pytest

from k8s.boxes import BoxState, BoxStatus
from k8s.home_claim import USUAL_SECONDS
from loops.boxes.box_failure import LOOK_SECONDS, BoxFailure, Held, Patience, failure_of, look_again
from loops.sessions.snapshots import BOX_LOOK_SECONDS

NOW = 100_000.0
PATIENCE = Patience(silence=60, start=300, room=3600)
COMING = Held(lost=0, since=NOW - 100, handed_at=None, heard_at=None, seconds=1800)
RUNNING = replace(COMING, handed_at=NOW - 400, heard_at=NOW - 5)
SILENT = replace(RUNNING, heard_at=NOW - 301)


def box(state: BoxState, message: str = "", *, permanent: bool = False) -> BoxStatus:
    return BoxStatus(name="gl-a", state=state, message=message, permanent=permanent)


@pytest.mark.parametrize(
    ("name", "status", "turn", "failure"),
    [
        ("a box that starts is waited for", box(BoxState.STARTING), COMING, BoxFailure("wait")),
        (
            "a full cluster is waited for, in words",
            box(BoxState.UNSCHEDULABLE, "Full."),
            COMING,
            BoxFailure("wait", "Full."),
        ),
        (
            "a registry that is away is waited for",
            box(BoxState.IMAGE_ERROR, "Away."),
            COMING,
            BoxFailure("wait", "Away."),
        ),
        (
            "an image that will never come is said at once",
            box(BoxState.IMAGE_ERROR, "Bad name.", permanent=True),
            COMING,
            BoxFailure("give_up", "Bad name.", "box_failed"),
        ),
        (
            "a registry that stays away is given up",
            box(BoxState.IMAGE_ERROR, "Away."),
            replace(COMING, since=NOW - 901),
            BoxFailure("give_up", "Away. It was waited for 15 minutes.", "box_failed"),
        ),
        (
            "a cluster that stays full is given up later",
            box(BoxState.UNSCHEDULABLE, "Full."),
            replace(COMING, since=NOW - 3601),
            BoxFailure("give_up", "Full. It was waited for 60 minutes.", "box_failed"),
        ),
        (
            "a box that runs and never asks is tried afresh",
            box(BoxState.RUNNING),
            replace(COMING, since=NOW - 901),
            BoxFailure("again", "The box has not asked for its turn in 15 minutes: can it reach the service?"),
        ),
        (
            "so is one that does not start",
            box(BoxState.STARTING),
            replace(COMING, since=NOW - 901),
            BoxFailure("again", "The box has not started in 15 minutes: its image or its volume does not come."),
        ),
        ("a lost box is tried afresh", box(BoxState.LOST, "Deleted."), RUNNING, BoxFailure("again", "Deleted.")),
        ("so is one without memory", box(BoxState.OOM_KILLED, "Memory."), RUNNING, BoxFailure("again", "Memory.")),
        ("so is an evicted one", box(BoxState.EVICTED, "Evicted."), RUNNING, BoxFailure("again", "Evicted.")),
        ("so is one that is not there", box(BoxState.ABSENT), RUNNING, BoxFailure("again", "The box is absent.")),
        (
            "the second loss is the last",
            box(BoxState.OOM_KILLED, "Memory."),
            replace(RUNNING, lost=1),
            BoxFailure("give_up", "Memory.", "box_lost"),
        ),
        ("what nobody can see is waited for", box(BoxState.UNKNOWN), replace(SILENT, lost=1), BoxFailure("wait")),
        (
            "a short silence means nothing",
            box(BoxState.RUNNING),
            replace(SILENT, heard_at=NOW - 299),
            BoxFailure("wait"),
        ),
        (
            "a long one means that the box hangs",
            box(BoxState.RUNNING),
            SILENT,
            BoxFailure("again", "The box has not been heard of for 5 minutes."),
        ),
        ("if no box is heard we are deaf", box(BoxState.RUNNING), replace(SILENT, deaf=True), BoxFailure("wait")),
        (
            "even then a turn does not go on for ever",
            box(BoxState.RUNNING),
            replace(SILENT, deaf=True, handed_at=NOW - 4201),
            BoxFailure("again", "The box has not been heard of for 5 minutes."),
        ),
    ],
)
def test_a_turn_ends_by_the_state_of_its_box(name: str, status: BoxStatus, turn: Held, failure: BoxFailure) -> None:
    assert failure_of(status, turn, PATIENCE, NOW) == failure, name


def looks(state: BoxState, until: float) -> list[float]:
    """When a box that does not come is looked at, in seconds of its turn's waiting."""
    found = [BOX_LOOK_SECONDS]
    while found[-1] < until:
        turn = replace(COMING, since=NOW - found[-1])
        found.append(found[-1] + look_again(box(state, "Why."), turn, PATIENCE, NOW))
    return found


@pytest.mark.parametrize("state", [BoxState.UNSCHEDULABLE, BoxState.IMAGE_ERROR, BoxState.STARTING, BoxState.FULL])
def test_what_keeps_a_box_from_coming_is_told_within_ten_seconds_also_where_nothing_happens(state: BoxState) -> None:
    # a claim of a volume counts as late after some seconds: the second look finds what the first could not yet say
    _, second, *_ = looks(state, 10)
    assert USUAL_SECONDS < second < LOOK_SECONDS


def test_an_image_that_may_be_mended_is_looked_for_as_often_after_an_hour_and_what_else_waits_less_and_less() -> None:
    image, room = looks(BoxState.IMAGE_ERROR, 3600), looks(BoxState.UNSCHEDULABLE, 3600)
    assert max(after - before for before, after in itertools.pairwise(image)) == LOOK_SECONDS
    assert room[-1] - room[-2] == PATIENCE.silence


def test_a_box_with_its_turn_is_looked_at_when_it_would_have_been_silent_for_too_long() -> None:
    assert look_again(box(BoxState.RUNNING), RUNNING, PATIENCE, NOW) == PATIENCE.silence
