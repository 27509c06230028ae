"""The check list of an agent: whatever its CLI calls one becomes the same event. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from loops.runtimes.base import JSON, RuntimeEvent

State = Literal["pending", "active", "done", "dropped"]

MOST: Final = 50
"""Items that are kept; of a longer list the first."""
LONGEST: Final = 200
"""Characters of one."""

_STATES: Final[Mapping[str, State]] = {
    "pending": "pending",
    "active": "active",
    "in_progress": "active",
    "done": "done",
    "completed": "done",
    "dropped": "dropped",
    "cancelled": "dropped",
    "deleted": "dropped",
}


def step(text: object, state: object) -> JSON:
    """One step of a list; a state that nobody knows yet is `pending`."""
    line = " ".join(str(text).split())
    short = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    return {"text": short, "state": _STATES.get(str(state), "pending")}


def items_of(listed: object, text: str, state: str = "status") -> list[JSON]:
    """The steps in what a CLI calls its list: objects with the fields `text` and `state`. What is none is left out."""
    found = listed if isinstance(listed, list) else []
    steps = (each for each in found if isinstance(each, Mapping) and str(each.get(text) or "").strip())
    return [step(each[text], each.get(state)) for each in _first(steps)]


def plan(items: Iterable[JSON]) -> RuntimeEvent:
    """The event that holds the whole list, in place of the one before."""
    return RuntimeEvent("plan", {"items": [{"text": each["text"], "state": each["state"]} for each in _first(items)]})


def _first(steps: Iterable[Any]) -> list[Any]:
    return [each for _, each in zip(range(MOST), steps, strict=False)]
