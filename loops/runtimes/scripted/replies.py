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


Action = Read | Write | Edit | Shell | Use


@dataclass(frozen=True)
class Reply:
    """An answer: text, or an action, or both.

    `input`, `cached` (within `input`), `output` and `thought` (within `output`) are the tokens told.
    """

    text: str = ""
    action: Action | None = None
    reasoning: str = ""
    input: int = 140
    cached: int = 40
    output: int = 20
    thought: int = 0


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
    """The connection breaks in the middle of the stream."""


Step = Reply | Refusal | Wait | Drop
