"""The check that a turn brings into its box: that of the repository's settings, else the failed step of a red check."""

from collections.abc import Mapping
from typing import Any

from github.repositories.config import RepositoryConfig
from loops.prompts.contexts import BoxCheck
from loops.store.states import TurnKind
from loops.store.tables import Session, Turn
from loops.turns.verified import command_of, most_rounds


def verification_of(session: Session, turn: Turn, step: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What the runner is told to verify, in the shape of its protocol; None where nothing is. `step` is the failed step
    of a red check, which stands for `verify` where the settings have none.

    A turn that brings two sides together has none: its checkout holds what it is about.
    """
    config = RepositoryConfig.model_validate(session.config or {})
    if turn.kind is TurnKind.CONFLICT or not (config.verify or step):
        return None
    own = {"setup": [{"run": run} for run in config.setup], "check": [{"run": run} for run in config.verify]}
    chosen = own if config.verify else dict(step or {})
    if config.setup:
        chosen["setup"] = own["setup"]
    seconds = config.limits.verify_minutes * 60.0
    return {
        **chosen,
        "setup_seconds": seconds,
        "seconds": seconds,
        "reproduce": not turn.rounds,
        "overlay": turn.rounds[-1]["overlay"] if turn.rounds else [],
    }


def check_told(session: Session, turn: Turn, verification: Mapping[str, Any] | None) -> BoxCheck | None:
    """What the prompt says of it."""
    if verification is None:
        return None
    last = turn.rounds[-1] if turn.rounds else {}
    return BoxCheck(
        command_of(verification),
        setup=bool(verification["setup"]),
        round=len(turn.rounds) + 1,
        rounds=most_rounds(session) + 1,
        excerpt=str(last.get("excerpt") or ""),
    )
