"""How Codex says that it failed: `turn.failed` with one sentence, mostly its own."""

from typing import Final

from loops.runtimes.failures import FailureKind, Sign

FAILURES: Final = (
    Sign(FailureKind.CONTEXT, text="ran out of room"),
    Sign(FailureKind.OVERLOADED, text="model is at capacity|experiencing high demand"),
    Sign(FailureKind.RATE_LIMIT, text="exceeded retry limit, last status: 429"),
    Sign(FailureKind.OVERLOADED, text=r"exceeded retry limit, last status: 5\d\d"),
    Sign(FailureKind.BUG, text=r"error loading config|wire_api|unexpected argument", exit=(1, 2)),
)
