"""What a box reported of a turn, with what the agent's parser made of its output."""

from dataclasses import dataclass, field
from typing import Any, Literal

from k8s.runner import protocol
from k8s.runner.protocol import Result
from loops.runtimes.failures import FailureKind
from loops.store.tables import Turn


@dataclass(frozen=True)
class Report:
    """What the box reported, and what the agent's parser made of the output.

    `error`: why there is no answer, `failure` what kind of failure that is, `retry_after` the seconds after which the
    provider wants to be asked again. `limit`: the cap at which the CLI ended by itself. `conversation`: the CLI's own
    id of it, with `totals` of what it used so far; `retry_fresh`: it is gone.
    """

    result: Result
    error: str | None = None
    failure: FailureKind | None = None
    retry_after: float | None = None
    limit: Literal["steps", "cost"] | None = None
    retry_fresh: bool = False
    conversation: str = ""
    totals: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, turn: Turn) -> "Report":
        """As the turn's row keeps it."""
        outcome = (turn.result or {}).get("outcome") or {}
        return cls(
            protocol.result_from_json(turn.result or {}),
            error=outcome.get("error"),
            failure=FailureKind(outcome["failure"]) if outcome.get("failure") else None,
            retry_after=outcome.get("retry_after"),
            limit=outcome.get("limit"),
            retry_fresh=bool(outcome.get("retry_fresh")),
            conversation=str(outcome.get("session_id") or ""),
            totals=outcome.get("totals") or {},
        )
