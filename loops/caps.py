"""How much a turn and a session may use. Pure: what was spent and what is allowed in, the cap that is passed out."""

from dataclasses import dataclass
from typing import Literal

CapName = Literal["turn_steps", "turn_tokens", "session_tokens", "turn_cost", "session_cost"]


@dataclass(frozen=True)
class Spent:
    """`steps` are the model's answers, `tokens` input (cached ones too) and output, `cost` US dollars."""

    steps: int = 0
    tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.steps + other.steps, self.tokens + other.tokens, self.cost + other.cost)


@dataclass(frozen=True)
class Caps:
    """What is allowed; None means no cap. A cap is passed when more than it is spent."""

    turn_steps: int | None = None
    turn_tokens: int | None = None
    session_tokens: int | None = None
    turn_cost: float | None = None
    session_cost: float | None = None


@dataclass(frozen=True)
class Passed:
    """A cap that is passed, and the sentence for the person who wonders why the turn was stopped."""

    cap: CapName
    spent: float
    allowed: float
    message: str


# What each cap counts, and the settings that raise it: the repository's file and the service's environment.
_WORDS: dict[CapName, tuple[str, str, str | None]] = {
    "turn_steps": ("steps of one turn", "GREENLOOP_TURN_STEPS", "limits.steps"),
    "turn_tokens": ("tokens of one turn", "GREENLOOP_TURN_TOKENS", None),
    "session_tokens": ("tokens of one session", "GREENLOOP_SESSION_TOKENS", "limits.tokens"),
    "turn_cost": ("US dollars of one turn", "GREENLOOP_TURN_COST", None),
    "session_cost": ("US dollars of one session", "GREENLOOP_SESSION_COST", "limits.cost"),
}


def passed(caps: Caps, turn: Spent, before: Spent = Spent()) -> Passed | None:
    """The first cap that `turn`, after what its session spent `before` it, has passed; None while it may go on."""
    session = before + turn
    counts: tuple[tuple[CapName, float, float | None], ...] = (
        ("turn_steps", turn.steps, caps.turn_steps),
        ("turn_tokens", turn.tokens, caps.turn_tokens),
        ("session_tokens", session.tokens, caps.session_tokens),
        ("turn_cost", turn.cost, caps.turn_cost),
        ("session_cost", session.cost, caps.session_cost),
    )
    for cap, spent, allowed in counts:
        if allowed is not None and spent > allowed:
            return Passed(cap, spent, allowed, _message(cap, spent, allowed))
    return None


def reached(cap: CapName, allowed: float) -> Passed:
    """For a CLI that stopped by itself at the cap it was told (`Outcome.limit`)."""
    return Passed(cap, allowed, allowed, _message(cap, allowed, allowed))


def left(caps: Caps, before: Spent) -> float | None:
    """US dollars that a new turn may still spend; None without a cap on cost."""
    session = None if caps.session_cost is None else max(0.0, caps.session_cost - before.cost)
    known = [amount for amount in (caps.turn_cost, session) if amount is not None]
    return min(known, default=None)


def _message(cap: CapName, spent: float, allowed: float) -> str:
    counted, variable, key = _WORDS[cap]
    in_repository = f"`{key}` in .github/greenloop.yml, within " if key else ""
    return (
        f"Stopped: {_number(spent)} {counted}, the cap is {_number(allowed)}. "
        f"To raise it: {in_repository}{variable} of the service."
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
