"""What went before in a session, in short: for an agent whose own conversation does not hold it. Pure."""

from collections.abc import Sequence

from loops.sessions.ask_columns import ask_of
from loops.store.states import OPEN_TURN, Trigger
from loops.store.tables import Turn

ASKED, ANSWERED, IN_ALL = 600, 1_500, 12_000
"""Characters of what was asked and answered in one turn, and of everything."""


def recap(turns: Sequence[Turn], *, known: int) -> str:
    """The turns after number `known`, which is the last that the agent's conversation holds; oldest first, empty if
    there are none."""
    told = [_told(turn) for turn in turns if turn.number > known and turn.status not in OPEN_TURN]
    while sum(map(len, told)) > IN_ALL and len(told) > 1:
        told.pop(0)
    return "\n\n".join(told)


def _told(turn: Turn) -> str:
    asked = "red checks" if turn.trigger is Trigger.CHECKS else ask_of(turn).instruction or turn.kind.value
    lines = [f"Turn {turn.number}: {_short(asked, ASKED)}"]
    if turn.message:
        lines.append(f"Its answer: {_short(turn.message, ANSWERED)}")
    if turn.changed_files:
        names = ", ".join(map(str, turn.changed_files[:20])) + (" and more" if len(turn.changed_files) > 20 else "")
        lines.append(f"It changed {names}; that is in the branch.")
    elif turn.error:
        lines.append(f"It was not published: {_short(turn.error, 200)}")
    return "\n".join(lines)


def _short(text: str, limit: int) -> str:
    text = text.strip()
    return text if len(text) <= limit else f"{text[:limit]}…"
