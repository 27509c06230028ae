"""The model behind an endpoint: Anthropic's protocol for `anthropic`, chat completions for everything else."""

from pydantic_ai.models import Model


def model_of(provider: str, name: str, base_url: str | None, key: str) -> Model:
    """`base_url` None means the provider's own; for OpenAI's protocol it ends with the version (`/v1`)."""
    # Each library costs a second to load, and only one of them is needed.
    if provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(name, provider=AnthropicProvider(api_key=key, base_url=base_url))
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(name, provider=OpenAIProvider(api_key=key, base_url=base_url))
