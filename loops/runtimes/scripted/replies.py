"""What a scripted model can do: say something, use a tool, or fail as real servers do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Read:
    """Look at a file."""

    path: str


@dataclass(frozen=True)
class Write:
    """Make or replace a file."""

    path: str
    content: str


@dataclass(frozen=True)
class Edit:
    """Replace the one occurrence of `old`."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Shell:
    """Run a command."""

    command: str


@dataclass(frozen=True)
class Use:
    """Use a tool that one CLI alone has, by its name."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Raw:
    """Call a tool whether it is offered or not, with arguments as they are, which need not be an object, nor JSON."""

    tool: str
    arguments: str


Action = Read | Write | Edit | Shell | Use | Raw


@dataclass(frozen=True)
class Reply:
    """An answer: text, or an action, or both; several actions are calls in one answer.

    `input`, `cached` (within `input`), `output` and `thought` (within `output`) are the tokens told.
    """

    text: str = ""
    action: Action | tuple[Action, ...] | None = None
    reasoning: str = ""
    input: int = 140
    cached: int = 40
    output: int = 20
    thought: int = 0

    @property
    def actions(self) -> tuple[Action, ...]:
        """All of them, in order."""
        if self.action is None:
            return ()
        return self.action if isinstance(self.action, tuple) else (self.action,)


@dataclass(frozen=True)
class Refusal:
    """An HTTP error. `retry_after` is in seconds; None tells none. `kind` is the provider's own name of the fault (its
    code or type); empty: the usual one of the status.
    """

    status: int
    message: str = "scripted refusal"
    retry_after: int | None = None
    kind: str = ""


@dataclass(frozen=True)
class Wait:
    """Nothing for `seconds`, then `then`."""

    seconds: float
    then: "Reply | Refusal | Drop"


@dataclass(frozen=True)
class Drop:
    """The connection breaks in the middle of the stream: after `events` of those of `reply`."""

    reply: Reply = Reply("cut off")
    events: int = 1


Step = Reply | Refusal | Wait | Drop
