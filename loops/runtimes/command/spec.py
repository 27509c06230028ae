"""What Greenloop has to know of programs that are agents."""

from loops.runtimes.command.command import command
from loops.runtimes.command.stream import CommandParser
from loops.runtimes.spec import ModelCalls, RuntimeSpec, Wire

_OPENAI: tuple[Wire, ...] = ("chat", "responses")
_OWN: dict[str, tuple[Wire, ...]] = {"google": ("generate_content",), "gemini": ("generate_content",)}
_CARRIED: dict[str, tuple[Wire, ...]] = {
    "anthropic": ("messages",),
    "amazon-bedrock": ("messages",),
    "google-vertex-anthropic": ("messages",),
    "google-vertex": ("generate_content",),
}


def _wires(provider: str, custom: bool) -> tuple[Wire, ...]:
    """A program speaks what its account's provider does; behind an endpoint of one's own that is mostly OpenAI's."""
    if provider in _CARRIED:
        return _CARRIED[provider]
    return _OPENAI if custom else _OWN.get(provider, _OPENAI)


SPEC = RuntimeSpec(
    name="command",
    title="a program of your own",
    help="Any program that reads its prompt on stdin; it brings its own account, or asks the model of ours.",
    command=command,
    parser=CommandParser.begin,
    calls=ModelCalls(wires=_wires),
    answers=False,
)
