"""The model behind an endpoint, by the protocol that it speaks."""

from typing import Literal

from pydantic_ai.models import Model

Wire = Literal["chat", "responses", "messages"]
"""OpenAI's chat completions, its Responses API, Anthropic's Messages API."""


def model_of(wire: Wire, name: str, base_url: str | None, key: str) -> Model:
    """`base_url` None means the provider's own; for OpenAI's protocols it ends with the version (`/v1`)."""
    # Each library costs a second to load, and only one of them is needed.
    if wire == "messages":
        from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
        from pydantic_ai.providers.anthropic import AnthropicProvider

        # marks on blocks, which proxies take too: the mark of a whole request is not known to all of them
        cached = AnthropicModelSettings(
            anthropic_cache_instructions=True, anthropic_cache_tool_definitions=True, anthropic_cache_messages=True
        )
        return AnthropicModel(name, provider=AnthropicProvider(api_key=key, base_url=base_url), settings=cached)
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(api_key=key, base_url=base_url)
    if wire == "responses":
        from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings

        # nothing is stored at the provider's: what the model thought goes back to it encrypted
        return OpenAIResponsesModel(name, provider=provider, settings=OpenAIResponsesModelSettings(openai_store=False))
    from pydantic_ai.models.openai import OpenAIChatModel

    return OpenAIChatModel(name, provider=provider)
