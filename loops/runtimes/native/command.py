"""The command line of our own agent."""

from loops.runtimes.base import Invocation, TurnRequest, executable
from loops.runtimes.spec import Wire

KEY = "GREENLOOP_MODEL_KEY"


def wires(provider: str, custom: bool) -> tuple[Wire, ...]:
    """The protocols it speaks with that provider; `custom`: behind an endpoint of one's own, which need not know
    OpenAI's newer one.
    """
    if provider == "anthropic":
        return ("messages",)
    return ("responses",) if provider == "openai" and not custom else ("chat",)


def command(turn: TurnRequest) -> Invocation:
    """Raises ValueError without a model or an API key."""
    if turn.credential.kind != "api_key":
        raise ValueError(f'The "native" runtime needs an API key, not {turn.credential.kind!r}.')
    if not turn.model:
        raise ValueError('The "native" runtime needs a model: set it on the profile or in the request.')
    custom = bool(turn.base_url) and turn.relay != "provider"
    argv = [*executable(turn, "greenloop-native"), "--wire", wires(turn.provider, custom)[0], "--model", turn.model]
    argv += ["--conversations", f"{{home}}/.greenloop/agents/{turn.session}/native", "--readable", "{turn_dir}"]
    kept = (f".greenloop/agents/{turn.session}/native/*",)
    if turn.base_url:
        argv += ["--base-url", turn.base_url]
    if turn.max_steps is not None:
        argv += ["--max-steps", str(turn.max_steps)]
    if turn.read_only:
        argv.append("--read-only")
    for image in turn.images:
        argv += ["--image", image]
    if turn.resume:
        argv += ["--resume", turn.resume.id]
    return Invocation(tuple(argv), dict(turn.env), {KEY: turn.credential.secret}, stdin=turn.prompt, conversation=kept)
