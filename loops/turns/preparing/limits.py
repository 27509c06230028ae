"""The caps of a turn, from what the service and the repository allow and what the session has left."""

from typing import Any

from loops.context import Loop
from loops.sessions.ask import TurnOptions
from loops.sessions.caps import Caps, Spent
from loops.store.tables import Session


def limits_of(loop: Loop, session: Session, asked: TurnOptions, before: Spent) -> dict[str, Any]:
    """The turn's limits: those `asked` for, the repository's where it sets them, else ours; never far above ours.

    `steps_left` and `cost_left` are for CLIs that end by themselves; `seconds` is what the runner ends the turn at.
    """
    options, config = loop.options, (session.config or {}).get("limits") or {}
    minutes = config.get("minutes")
    limits: dict[str, Any] = {
        "turn_seconds": options.turn_seconds if minutes is None else min(minutes * 60, 4 * options.turn_seconds),
        "session_seconds": options.session_seconds,
        "output_bytes": options.output_bytes,
        "changed_files": min(config.get("files") or options.changed_files, options.changed_files),
        "session_changed_files": options.session_changed_files,
        "changed_bytes": options.changed_bytes,
        "file_bytes": options.file_bytes,
        "steps": min(
            config.get("steps") or options.turn_steps,
            asked.steps or options.turn_steps,
            options.turn_steps,
        ),
        "session_steps": options.session_steps,
        "tokens": options.turn_tokens,
        "session_tokens": min(config.get("tokens") or options.session_tokens, options.session_tokens),
        "cost": options.turn_cost,
        "session_cost": min(config.get("cost") or options.session_cost, options.session_cost),
    }
    caps = Caps.of(limits)
    steps, cost, seconds = (caps.left(counter, before) for counter in ("steps", "cost", "seconds"))
    limits["steps_left"] = int(steps.amount) if steps else None
    limits["cost_left"] = cost.amount if cost else None
    limits["seconds"] = seconds.amount if seconds else limits["turn_seconds"]
    return limits
