"""A conversation that nears the end of the model's window is replaced by a summary of it."""

from collections.abc import Sequence
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model

from k8s.native.events import Events
from k8s.native.images import with_images
from k8s.native.tools import clip

WINDOW = 128_000
"""Tokens of a window that nobody told us."""
SHARE = 0.8
"""Of the window, after which a conversation is summed up."""
_CHARACTERS_A_TOKEN = 4
_CHARACTERS = 2
"""Of a transcript for each token of the window: at three or four a token it takes up half of it."""
_OUTPUT, _CALL = 2_000, 400
"""Characters of a tool's output and of a call's arguments in a transcript."""
_INSTRUCTIONS = """\
You are at work in a checkout, and the conversation became too long to go on with. Sum it up for yourself: what was
asked, what you found out (files, lines, commands, results), what you changed and why, what failed and how, and
what is left to do. Be exact about names and numbers; leave out what no longer matters. Answer with the
summary alone."""
_GO_ON = (
    "{}\n\nWhat you have done of it so far, as you summed it up when the conversation became too long:\n\n{}\n\nGo on."
)


def full(messages: Sequence[ModelMessage], window: int, share: float = SHARE) -> bool:
    """Whether the last answer, and what has come since, take up more than that share of the window."""
    since = 0
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            before = message.usage.input_tokens + message.usage.output_tokens
            return before + since / _CHARACTERS_A_TOKEN > share * window
        since += sum(len(str(getattr(part, "content", ""))) for part in message.parts)
    return False


async def compacted(
    messages: Sequence[ModelMessage],
    prompt: str,
    images: Sequence[BinaryContent],
    model: Model,
    window: int,
    told: Events,
) -> list[ModelMessage]:
    """The conversation with which to go on: `prompt` again, and a summary of `messages` by the model itself. Where it
    gives none, the end of what was said stands for it.
    """
    said = transcript(messages, _CHARACTERS * window)
    try:
        async with Agent[None, str](model, instructions=_INSTRUCTIONS).run_stream(said) as answer:
            summary = (await answer.get_output()).strip()
            told.used(answer.usage)
    except (AgentRunError, UserError):
        summary = ""
    text = _GO_ON.format(prompt, summary or transcript(messages, window // 4))
    return [ModelRequest(parts=[UserPromptPart(with_images(text, images))])]


def transcript(messages: Sequence[ModelMessage], limit: int) -> str:
    """What was said, called and answered, within `limit` characters: the end of it is kept."""
    lines: list[str] = []
    size = 0
    for message in reversed(messages):
        for part in reversed(message.parts):
            line = _line(part)
            size += len(line) + 2
            if size > limit:
                return "\n\n".join(("(What came before is left out.)", *reversed(lines)))
            if line:
                lines.append(line)
    return "\n\n".join(reversed(lines))


def _line(part: Any) -> str:
    match part:
        case UserPromptPart(content=content):
            text = content if isinstance(content, str) else "\n".join(each for each in content if isinstance(each, str))
            return f"User: {text}"
        case TextPart(content=text) if text:
            return f"You: {text}"
        case ToolCallPart(tool_name=name):
            return f"You called {name} with {clip(part.args_as_json_str(), _CALL)}"
        case ToolReturnPart() | RetryPromptPart():
            return f"{part.tool_name or 'It'} answered: {clip(str(part.content), _OUTPUT)}"
    return ""
