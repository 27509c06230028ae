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
class Approve:
    """Work on a fork's `commit` and on no other: a full SHA, or at least the first twelve letters of one."""

    name: ClassVar[str] = "approve"
    commit: str


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


Command = Run | Retry | Approve | Stop | Status | Help | Autofix | Unclear
BUTTONS: dict[str, Command] = {
    "stop": Stop(),
    "retry": Retry(),
    "autofix-on": Autofix(on=True),
    "autofix-off": Autofix(on=False),
}
"""What the buttons of our check run ask for, by their identifiers."""
APPROVE = "approve-"
"""How the identifier of a button begins that approves a fork's commit; its first twelve letters follow."""


def of_button(identifier: str, sha: str) -> Command | None:
    """What a button of our check run on the commit `sha` asks for; None: there is no such button."""
    if identifier.startswith(APPROVE):
        named = identifier.removeprefix(APPROVE)
        return Approve(sha) if len(named) == 12 and sha.startswith(named) else None
    return BUTTONS.get(identifier)
