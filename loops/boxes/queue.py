"""The line of turns: which may start now, in which order, and what the others wait for. Pure.

A turn needs a place among the turns of its installation, its box for itself, and, unless that box is up already, a
place among the boxes. A box without a turn holds no place against somebody who waits: it makes room.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


class Why(StrEnum):
    """What a turn waits for."""

    OWN_BOX = "own_box"
    TURNS = "turns"
    INSTALLATION_BOXES = "installation_boxes"
    BOXES = "boxes"


@dataclass(frozen=True)
class Waiting:
    """A turn in line. `owner` is the key of its box; `spare_fits`: it may take a spare, for it has no home yet."""

    turn: int
    installation: int
    owner: str
    spare_fits: bool


@dataclass(frozen=True)
class Up:
    """A box that is up. `owner` None: a spare. `used_at`: Unix time of its last use."""

    name: str
    owner: str | None
    installation: int | None
    busy: bool
    used_at: float


@dataclass(frozen=True)
class Bounds:
    """How many at once: turns of an installation, boxes of an installation, boxes in all."""

    turns: int
    installation_boxes: int
    boxes: int


@dataclass(frozen=True)
class MayStart:
    """The turn may start. `box` is up for it (its own, or a spare), None: one is to be made once `ends` have ended."""

    box: str | None = None
    ends: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wait:
    """The turn waits for `why`, at `place` among those that wait for the same; 1 is next."""

    why: Why
    place: int


Verdict = MayStart | Wait


def schedule(waiting: Iterable[Waiting], up: Iterable[Up], bounds: Bounds) -> dict[int, Verdict]:
    """What becomes of each turn, by its id. `waiting` stands in the order of the line."""
    room = _Room({box.name: box for box in up}, bounds)
    verdicts: dict[int, Verdict] = {}
    behind: dict[tuple[Why, object], int] = {}
    for turn in waiting:
        found = room.admit(turn)
        if isinstance(found, Why):
            which = {Why.OWN_BOX: turn.owner, Why.BOXES: None}.get(found, turn.installation)
            behind[found, which] = place = behind.get((found, which), 0) + 1
            verdicts[turn.turn] = Wait(found, place)
        else:
            verdicts[turn.turn] = found
    return verdicts


class _Room:
    def __init__(self, up: dict[str, Up], bounds: Bounds) -> None:
        self._up = up
        self._bounds = bounds

    def admit(self, turn: Waiting) -> MayStart | Why:
        own = next((box for box in self._up.values() if box.owner == turn.owner), None)
        if own is not None and own.busy:
            return Why.OWN_BOX
        theirs = [box for box in self._up.values() if box.installation == turn.installation]
        if sum(box.busy for box in theirs) >= self._bounds.turns:
            return Why.TURNS
        if own is not None:
            self._up[own.name] = replace(own, busy=True)
            return MayStart(own.name)
        return self._make_room(turn, theirs)

    def _make_room(self, turn: Waiting, theirs: list[Up]) -> MayStart | Why:
        # Rows may stand above a bound, after it was lowered: then more than one box has to go.
        ends: set[str] = set()
        while sum(box.name not in ends for box in theirs) >= self._bounds.installation_boxes:
            victim = _longest_idle(theirs, ends)
            if victim is None:
                return Why.INSTALLATION_BOXES
            ends.add(victim.name)
        spare = next((box for box in self._up.values() if box.owner is None), None) if turn.spare_fits else None
        while spare is None and len(self._up) - len(ends) >= self._bounds.boxes:
            victim = _longest_idle(self._up.values(), ends)
            if victim is None:
                return Why.BOXES
            ends.add(victim.name)
        for name in ends:
            del self._up[name]
        name = spare.name if spare else f"new box of turn {turn.turn}"
        used_at = spare.used_at if spare else 0.0
        self._up[name] = Up(name, turn.owner, turn.installation, busy=True, used_at=used_at)
        return MayStart(spare.name if spare else None, tuple(sorted(ends)))


def _longest_idle(boxes: Iterable[Up], ends: Container[str]) -> Up | None:
    idle = (box for box in boxes if not box.busy and box.name not in ends)
    return min(idle, key=lambda box: (box.used_at, box.name), default=None)


def words(wait: Wait, bounds: Bounds) -> str:
    """What the turn waits for, for people."""
    return _WORDS[wait.why].format_map({**vars(bounds)})


_WORDS: Mapping[Why, str] = {
    Why.OWN_BOX: "The box is busy with another session; this one starts after it.",
    Why.TURNS: "All {turns} turns that run at once for this account are running.",
    Why.INSTALLATION_BOXES: "All {installation_boxes} boxes of this account are at work.",
    Why.BOXES: "All {boxes} boxes are at work.",
}
