"""What a box's state means for the turn in it: wait, try once more on a fresh box, or give up and say why. Pure."""

from dataclasses import dataclass
from typing import Literal

from k8s.boxes import BoxState, BoxStatus

LOST_LIMIT = 1  # a turn is tried once more on a fresh box, then given up
SILENCES = 5
"""How many times the usual limit a box that looks well may be silent: its network, or ours, may be interrupted."""


LOOK_SECONDS = 10.0
"""Within this time people hear what keeps a box from coming, and so often one is looked at that may be mended."""


@dataclass(frozen=True)
class Held:
    """A turn and what was heard of it. Times are Unix seconds; `lost`: boxes it has lost already.

    `deaf`: no box at all was heard of lately, so that silence says something about us and not about this one.
    `forgotten`: whoever asked in the box's name knew nothing of the turn, and the box was given up.
    """

    lost: int
    since: float
    handed_at: float | None
    heard_at: float | None
    seconds: float
    deaf: bool = False
    forgotten: bool = False


@dataclass(frozen=True)
class Patience:
    """How long things may take, in seconds: silence, coming up, waiting for room in the cluster."""

    silence: float
    start: float
    room: float


@dataclass(frozen=True)
class BoxFailure:
    """`text` is a sentence for people, empty while all is well; `reason` is one of a failed session's reasons."""

    what: Literal["wait", "again", "give_up"]
    text: str = ""
    reason: str = ""


def failure_of(box: BoxStatus, turn: Held, patience: Patience, now: float) -> BoxFailure:
    """The turn's failure. Nothing is concluded from what could not be seen."""
    if box.state is BoxState.UNKNOWN:
        return BoxFailure("wait", box.message)
    if turn.forgotten:
        return _lost(turn, "The box asked for another turn and knew nothing of this one any more.")
    if box.permanent:
        return BoxFailure("give_up", box.message, "box_failed")
    if not box.may_come:
        return _lost(turn, box.message or f"The box is {box.state.value}.")
    if turn.handed_at is None:
        return _coming(box, turn, patience, now)
    silent = now - (turn.heard_at or turn.handed_at)
    overdue = now - turn.handed_at > 2 * turn.seconds + 600
    if overdue or (silent > SILENCES * patience.silence and not turn.deaf):
        return _lost(turn, f"The box has not been heard of for {_minutes(silent)}.")
    return BoxFailure("wait", box.message)


def look_again(box: BoxStatus, turn: Held, patience: Patience, now: float) -> float:
    """Seconds until the box is looked at again: one that has not come yet first often, then ever less.

    An image may be mended where it comes from, of which nobody tells: it goes on being looked for as often.
    """
    if turn.handed_at is not None:
        return patience.silence
    waited = now - turn.since
    if waited < LOOK_SECONDS - 1:
        return LOOK_SECONDS - 1 - waited
    longest = LOOK_SECONDS if box.state is BoxState.IMAGE_ERROR else waited / 4
    return min(patience.silence, max(LOOK_SECONDS, longest))


def _coming(box: BoxStatus, turn: Held, patience: Patience, now: float) -> BoxFailure:
    """The box has not asked for the turn yet."""
    waited = now - turn.since
    if waited <= (patience.room if box.state is BoxState.UNSCHEDULABLE else 3 * patience.start):
        return BoxFailure("wait", box.message)
    if box.message:
        # A fresh box would meet the same: the same image, the same full cluster.
        return BoxFailure("give_up", f"{box.message} It was waited for {_minutes(waited)}.", "box_failed")
    if box.state is BoxState.STARTING:
        return _lost(turn, f"The box has not started in {_minutes(waited)}: its image or its volume does not come.")
    return _lost(turn, f"The box has not asked for its turn in {_minutes(waited)}: can it reach the service?")


def _lost(turn: Held, text: str) -> BoxFailure:
    return BoxFailure("give_up", text, "box_lost") if turn.lost >= LOST_LIMIT else BoxFailure("again", text)


def _minutes(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} minute{'s' if minutes > 1 else ''}"
