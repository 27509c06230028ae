"""What can be asked for: the values that the parser makes of words, labels and buttons. Pure."""

from dataclasses import dataclass
from typing import ClassVar

from github.webhooks.mention_options import NO_OPTIONS, MentionOptions


@dataclass(frozen=True, slots=True)
class Run:
    """Work on it. `instruction` is the whole text without the mention and its options; empty: as the thread stands."""

    name: ClassVar[str] = "run"
    instruction: str = ""
    options: MentionOptions = NO_OPTIONS


@dataclass(frozen=True, slots=True)
class Retry:
    """The last task once more; `hint` is what was said besides, which is added to it."""

    name: ClassVar[str] = "retry"
    hint: str = ""
    options: MentionOptions = NO_OPTIONS


@dataclass(frozen=True, slots=True)
class Stop:
    """End the work."""

    name: ClassVar[str] = "stop"


@dataclass(frozen=True, slots=True)
class Status:
    """Tell how it stands."""

    name: ClassVar[str] = "status"


@dataclass(frozen=True, slots=True)
class Help:
    """Tell what can be asked for."""

    name: ClassVar[str] = "help"


@dataclass(frozen=True, slots=True)
class Autofix:
    """Repair red checks here, or leave them alone."""

    on: bool

    @property
    def name(self) -> str:
        return f"autofix {'on' if self.on else 'off'}"


@dataclass(frozen=True, slots=True)
class Unclear:
    """Words that nothing may be started for; `problems` are sentences for whoever wrote them."""

    name: ClassVar[str] = "unclear"
    problems: tuple[str, ...]


Command = Run | Retry | Stop | Status | Help | Autofix | Unclear
BUTTONS: dict[str, Command] = {
    "stop": Stop(),
    "retry": Retry(),
    "autofix-on": Autofix(on=True),
    "autofix-off": Autofix(on=False),
}
"""What the buttons of our check run ask for, by their identifiers."""
