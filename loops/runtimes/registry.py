"""Runtimes by name, and what all of them together know."""

from loops.runtimes.claude.spec import SPEC as CLAUDE
from loops.runtimes.codex.spec import SPEC as CODEX
from loops.runtimes.command.spec import SPEC as COMMAND
from loops.runtimes.gemini.spec import SPEC as GEMINI
from loops.runtimes.native.spec import SPEC as NATIVE
from loops.runtimes.opencode.spec import SPEC as OPENCODE
from loops.runtimes.spec import RuntimeSpec, Smoke

_RUNTIMES = {runtime.name: runtime for runtime in (CODEX, OPENCODE, CLAUDE, GEMINI, NATIVE, COMMAND)}


def names() -> tuple[str, ...]:
    """The known runtimes, in the order they are offered."""
    return tuple(_RUNTIMES)


def get(name: str) -> RuntimeSpec:
    """The runtime `name`. Raises UnknownRuntimeError, which lists the known ones."""
    try:
        return _RUNTIMES[name]
    except KeyError:
        raise UnknownRuntimeError(name) from None


def every() -> tuple[RuntimeSpec, ...]:
    """All runtimes, in the order they are offered."""
    return tuple(_RUNTIMES.values())


def answers(name: str | None) -> bool:
    """Whether the last words of the runtime `name` are an answer for people. Raises UnknownRuntimeError."""
    return name is None or get(name).answers


def agents() -> tuple[RuntimeSpec, ...]:
    """Those that drive a model, which a script can take the place of."""
    return tuple(runtime for runtime in every() if runtime.smoke is not None)


def smoke(name: str) -> Smoke:
    """How the agent `name` is tried with a script. Raises UnknownRuntimeError, also for one that drives no model."""
    told = get(name).smoke
    if told is None:
        raise UnknownRuntimeError(name)
    return told


def choices() -> str:
    """The names as help texts list them."""
    *most, last = names()
    return f"{', '.join(most)} or {last}"


def key_files() -> tuple[str, ...]:
    """The files that hold an agent's login, as the ends of their paths."""
    return tuple(file for runtime in every() for file in runtime.key_files)


class UnknownRuntimeError(LookupError):
    """Nobody knows a runtime by this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f'Unknown runtime "{name}". Known: {", ".join(_RUNTIMES)}.')
        self.name = name
