"""A turn's request in the columns of its row, and out of them again: the one place that knows their JSON."""

from dataclasses import asdict
from typing import Any, Final

import msgspec

from github.webhooks.sources import (
    CheckButton,
    InlineComment,
    OwnText,
    ReviewBody,
    Source,
    ThreadComment,
    Where,
)
from loops.sessions.ask import (
    About,
    Ask,
    Asker,
    Conflict,
    RedChecks,
    ReviewText,
    ThreadText,
    TurnOptions,
)
from loops.store.states import Origin, TurnKind
from loops.store.tables import Turn

_ABOUT: Final[dict[TurnKind, type[About]]] = {
    TurnKind.ISSUE: ThreadText,
    TurnKind.PULL: ThreadText,
    TurnKind.REVIEW: ReviewText,
    TurnKind.CHECKS: RedChecks,
    TurnKind.CONFLICT: Conflict,
}
_SOURCES: Final[dict[Where, type[Source]]] = {
    Where.ISSUE: OwnText,
    Where.PULL: OwnText,
    Where.COMMENT: ThreadComment,
    Where.INLINE: InlineComment,
    Where.REVIEW: ReviewBody,
    Where.CHECK: CheckButton,
}


def columns(ask: Ask) -> dict[str, Any]:
    """The values of a turn's columns that hold what was asked."""
    return {
        "kind": ask.kind,
        "trigger": ask.trigger,
        "requested_by": ask.asker.id,
        "delivery": ask.delivery,
        "source": {"where": ask.source.where.value, **asdict(ask.source)} if ask.source else {},
        "context": {
            **asdict(ask.about),
            "instruction": ask.instruction,
            "by": ask.asker.login,
            "origin": ask.origin.value,
            "options": options_json(ask.options),
        },
    }


def ask_of(turn: Turn) -> Ask:
    """What was asked with this turn. Raises msgspec.ValidationError for a row that something else wrote."""
    context = turn.context
    return Ask(
        trigger=turn.trigger,
        asker=Asker(turn.requested_by, str(context.get("by") or "")),
        about=msgspec.convert(context, _ABOUT[turn.kind], strict=False),
        instruction=str(context.get("instruction") or ""),
        source=source_of(turn),
        options=msgspec.convert(context.get("options") or {}, TurnOptions),
        origin=Origin(context.get("origin") or Origin.GITHUB),
        delivery=turn.delivery,
    )


def source_of(turn: Turn) -> Source | None:
    """Where a turn's request stands."""
    if not turn.source:
        return None
    return msgspec.convert(turn.source, _SOURCES[Where(turn.source["where"])])


def options_json(options: TurnOptions) -> dict[str, Any]:
    """The options that were given, by name."""
    return {name: value for name, value in asdict(options).items() if value is not None}
