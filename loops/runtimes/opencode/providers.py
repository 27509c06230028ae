"""The providers that OpenCode knows by name: where they answer, and how it speaks with them."""

from typing import Final

from loops.runtimes.spec import Endpoint, Wire

ENDPOINTS: Final = (
    Endpoint("openrouter", "https://openrouter.ai/api/v1"),
    Endpoint("groq", "https://api.groq.com/openai/v1"),
    Endpoint("xai", "https://api.x.ai/v1", ("chat", "responses")),
    Endpoint("mistral", "https://api.mistral.ai/v1"),
    Endpoint("deepseek", "https://api.deepseek.com/v1"),
    Endpoint("cerebras", "https://api.cerebras.ai/v1"),
    Endpoint("togetherai", "https://api.together.xyz/v1"),
    Endpoint("fireworks-ai", "https://api.fireworks.ai/inference/v1"),
    Endpoint("moonshotai", "https://api.moonshot.ai/v1"),
    Endpoint("huggingface", "https://router.huggingface.co/v1"),
)
_OWN: Final[dict[str, tuple[Wire, ...]]] = {
    "openai": ("responses", "chat"),
    "xai": ("responses", "chat"),
    "google": ("generate_content",),
}


def wires(provider: str, custom: bool) -> tuple[Wire, ...]:
    """Its protocols with a provider: behind an endpoint of one's own all but Anthropic's are chat completions."""
    if provider == "anthropic":
        return ("messages",)
    return ("chat",) if custom else _OWN.get(provider, ("chat",))
