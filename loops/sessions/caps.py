"""How much a turn and a session may use. Pure: what was spent and what is allowed in, the cap that is passed out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Counter = Literal["steps", "seconds", "files", "tokens", "cost"]
Scope = Literal["turn", "session"]
Cap = tuple[Scope, Counter]


@dataclass(frozen=True)
class Spent:
    """`steps` are the model's answers, `seconds` those of agents at work, `files` the paths that were changed, `tokens`
    input (cached ones too) and output, `cost` US dollars."""

    steps: int = 0
    seconds: float = 0.0
    files: frozenset[str] = frozenset()
    tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.steps + other.steps,
            self.seconds + other.seconds,
            self.files | other.files,
            self.tokens + other.tokens,
            self.cost + other.cost,
        )

    def of(self, counter: Counter) -> float:
        """How much of it."""
        return len(self.files) if counter == "files" else getattr(self, counter)


@dataclass(frozen=True)
class Passed:
    """A cap that is passed, and the sentence for the person who wonders why the turn was stopped."""

    cap: Cap
    spent: float
    allowed: float

    @property
    def message(self) -> str:
        """How much of what, the cap, and the settings that raise it."""
        counted, key, variable = _WORDS[self.cap]
        in_repository = f"`{key}` in .github/greenloop.yml, within " if key else ""
        return (
            f"{_number(self.spent)} {counted} of one {self.cap[0]}, the cap is {_number(self.allowed)}. "
            f"To raise it: {in_repository}{variable} of the service."
        )

    @property
    def reason(self) -> str:
        """As a reason of a session's end."""
        return f"limit_exceeded: {self.message.removesuffix('.')}"


@dataclass(frozen=True)
class Left:
    """What a new turn may use, and the cap that says so."""

    amount: float
    cap: Cap
    allowed: float


@dataclass(frozen=True)
class Caps:
    """What is allowed; what is not in it has no cap. A cap is passed when more than it is spent."""

    allowed: Mapping[Cap, float] = field(default_factory=dict)

    @classmethod
    def of(cls, limits: Mapping[str, Any]) -> "Caps":
        """From a turn's stored `limits`."""
        return cls({cap: float(limits[name]) for cap, name in NAMES.items() if limits.get(name) is not None})

    def passed(self, turn: Spent, before: Spent = Spent()) -> Passed | None:
        """The first cap that `turn`, after what its session spent `before` it, has passed; None while it may go on."""
        session = before + turn
        for cap, allowed in self.allowed.items():
            spent = (turn if cap[0] == "turn" else session).of(cap[1])
            if spent > allowed:
                return Passed(cap, spent, allowed)
        return None

    def used_up(self, before: Spent) -> Passed | None:
        """The cap of the session of which nothing is left for a new turn. Changed files may be changed again."""
        for cap, allowed in self.allowed.items():
            if cap[0] == "session" and cap[1] != "files" and before.of(cap[1]) >= allowed:
                return Passed(cap, before.of(cap[1]), allowed)
        return None

    def left(self, counter: Counter, before: Spent) -> Left | None:
        """What a new turn may use; None without a cap."""
        caps: tuple[Cap, Cap] = (("turn", counter), ("session", counter))
        found = [
            Left(max(0.0, allowed - (before.of(counter) if cap[0] == "session" else 0)), cap, allowed)
            for cap in caps
            if (allowed := self.allowed.get(cap)) is not None
        ]
        return min(found, key=lambda each: each.amount, default=None)

    def reached(self, counter: Counter, before: Spent) -> Passed | None:
        """The cap at which a turn was ended by its CLI or its runner, which know one number only."""
        left = self.left(counter, before)
        return Passed(left.cap, left.allowed, left.allowed) if left else None


NAMES: Final[Mapping[Cap, str]] = {
    ("turn", "steps"): "steps",
    ("session", "steps"): "session_steps",
    ("turn", "seconds"): "turn_seconds",
    ("session", "seconds"): "session_seconds",
    ("turn", "files"): "changed_files",
    ("session", "files"): "session_changed_files",
    ("turn", "tokens"): "tokens",
    ("session", "tokens"): "session_tokens",
    ("turn", "cost"): "cost",
    ("session", "cost"): "session_cost",
}
"""Where each cap stands in a turn's `limits`."""

# What each cap counts, and the settings that raise it: the repository's file and the service's environment.
_WORDS: Final[Mapping[Cap, tuple[str, str, str]]] = {
    ("turn", "steps"): ("steps", "limits.steps", "GREENLOOP_TURN_STEPS"),
    ("session", "steps"): ("steps", "", "GREENLOOP_SESSION_STEPS"),
    ("turn", "seconds"): ("seconds", "limits.minutes", "GREENLOOP_TURN_SECONDS"),
    ("session", "seconds"): ("seconds", "", "GREENLOOP_SESSION_SECONDS"),
    ("turn", "files"): ("changed files", "limits.files", "GREENLOOP_CHANGED_FILES"),
    ("session", "files"): ("changed files", "", "GREENLOOP_SESSION_CHANGED_FILES"),
    ("turn", "tokens"): ("tokens", "", "GREENLOOP_TURN_TOKENS"),
    ("session", "tokens"): ("tokens", "limits.tokens", "GREENLOOP_SESSION_TOKENS"),
    ("turn", "cost"): ("US dollars", "", "GREENLOOP_TURN_COST"),
    ("session", "cost"): ("US dollars", "limits.cost", "GREENLOOP_SESSION_COST"),
}


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
