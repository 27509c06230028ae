"""Runtimes by name."""

from loops.runtimes.base import Runtime
from loops.runtimes.claude import ClaudeRuntime
from loops.runtimes.codex import CodexRuntime
from loops.runtimes.command import CommandRuntime
from loops.runtimes.native import NativeRuntime
from loops.runtimes.opencode import OpenCodeRuntime

_ALL: tuple[Runtime, ...] = (CodexRuntime(), OpenCodeRuntime(), ClaudeRuntime(), NativeRuntime(), CommandRuntime())
_RUNTIMES = {runtime.name: runtime for runtime in _ALL}


def names() -> tuple[str, ...]:
    """The known runtimes, in the order they are offered."""
    return tuple(_RUNTIMES)


def get(name: str) -> Runtime:
    """The runtime `name`. Raises UnknownRuntimeError, which lists the known ones."""
    try:
        return _RUNTIMES[name]
    except KeyError:
        raise UnknownRuntimeError(name) from None


class UnknownRuntimeError(LookupError):
    """Nobody knows a runtime by this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f'Unknown runtime "{name}". Known: {", ".join(_RUNTIMES)}.')
        self.name = name
