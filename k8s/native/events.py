"""What a run tells while it goes on: the library's events as ours."""

from collections.abc import AsyncIterable
from typing import Any

from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelResponse,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
)
from pydantic_ai.usage import RequestUsage, RunUsage

from k8s.native.tools import ERROR, Emit, clip


class Events:
    """Emits what happens, and counts steps and tokens. `usage` are tokens: input (cached included), cached, output."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._answers = 0
        self.steps = 0
        self.usage: dict[str, int] = {}
        self.empty = 0
        """Answers without words and calls, one after another, at the end."""

    def status(self, text: str) -> None:
        """Something worth saying about the run itself."""
        self._emit("status", text=text)

    async def answer(self, stream: AsyncIterable[Any]) -> None:
        """Text and thoughts of one answer, as they come."""
        self._answers += 1
        message = f"m{self._answers}"
        async for event in stream:
            match event:
                case (
                    PartStartEvent(part=TextPart(content=text))
                    | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
                ):
                    if text:
                        self._emit("assistant_delta", text=text, message_id=message)
                case PartEndEvent(part=TextPart(content=text)) if text:
                    self._emit("assistant_completed", text=text, message_id=message)
                case PartEndEvent(part=ThinkingPart(content=text)) if text:
                    self._emit("reasoning", text=text)

    def answered(self, response: ModelResponse) -> bool:
        """Count an answer. Whether it was empty: then it is no step."""
        empty = not response.text and not response.tool_calls
        self.empty = self.empty + 1 if empty else 0
        self.used(response.usage, steps=int(not empty))
        if empty:
            self.status("The model answered nothing.")
        return empty

    def used(self, usage: RequestUsage | RunUsage, *, steps: int = 0) -> None:
        """Count tokens."""
        told = {"input": usage.input_tokens, "cached": usage.cache_read_tokens, "output": usage.output_tokens}
        self.steps += steps
        self.usage = {name: self.usage.get(name, 0) + number for name, number in told.items()}
        self._emit("usage", steps=steps, **told, cost=None)

    async def tools(self, stream: AsyncIterable[Any]) -> None:
        """Calls of tools and their results, as they come."""
        async for event in stream:
            match event:
                case FunctionToolCallEvent(part=part):
                    given = part.args_as_dict()
                    self._emit("tool_started", id=part.tool_call_id, name=part.tool_name, input=given)
                case FunctionToolResultEvent(part=part):
                    output = clip(str(part.content))
                    ok = part.outcome == "success" and not output.startswith(ERROR)
                    self._emit("tool_completed", id=part.tool_call_id, name=part.tool_name, output=output, ok=ok)
