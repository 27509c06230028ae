"""A request to a model, in one shape for all protocols."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from loops.runtimes.spec import Wire

Role = Literal["user", "assistant", "tool"]


@dataclass(frozen=True)
class Said:
    """One thing in the history. `text` of a `tool` is its output; `calls` are the names of the tools called."""

    role: Role
    text: str
    calls: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tool:
    """An offered tool and the names of its parameters; a `custom` one takes text instead."""

    name: str
    custom: bool = False
    parameters: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Conversation:
    """What a CLI asked. `tools` are the offered ones by name, `key` is the credential, `body` the request as sent."""

    wire: Wire
    model: str
    said: tuple[Said, ...]
    tools: Mapping[str, Tool] = field(default_factory=dict)
    system: str = ""
    stream: bool = True
    key: str = field(default="", repr=False)
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_side_call(self) -> bool:
        """Whether the CLI asks for something of its own (a title, a summary): such requests offer no tools."""
        return not self.tools

    def since(self, words: str) -> tuple[Said, ...]:
        """What was said after the last user text that holds `words`; everything where none does."""
        last = max((at for at, said in enumerate(self.said) if said.role == "user" and words in said.text), default=-1)
        return self.said[last + 1 :]
