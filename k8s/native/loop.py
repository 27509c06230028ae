"""The agent loop: a model, the tools, and a stream of events until there is an answer or a cap."""

import asyncio
from collections.abc import AsyncIterable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import Agent, AgentRetries, RunUsage, UsageLimitExceeded, UsageLimits
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessage,
    ModelResponse,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
)
from pydantic_ai.models import Model
from pydantic_ai.tools import Tool as ModelTool

from k8s.native.code_graph.graph import CodeGraph
from k8s.native.workspaces.diffs import changed_files
from k8s.native.tools import ERROR, Emit, Toolbox, as_arguments, clip
from k8s.native.workspaces.workspace import Workspace

MAX_STEPS = 32
PAUSES = (1.0, 4.0, 15.0)
"""Seconds before an answer that was cut off or refused for the moment is asked for again, time after time.

The libraries of the providers wait for `retry-after` by themselves, but not once an answer has begun.
"""
SYSTEM_PROMPT = """\
You are a careful software engineer at work in a checkout. Look before you change; make the smallest change that does
what is asked, in the style of the code around it; check it with the project's own tests where you can. Use the tools;
nobody answers questions. When you are done, answer with a short account of what you did and why."""


@dataclass(frozen=True)
class RunOptions:
    """What a run is asked to do. `history` are the messages of an earlier run to go on from."""

    instruction: str
    system_prompt: str = SYSTEM_PROMPT
    history: Sequence[ModelMessage] = ()
    max_steps: int = MAX_STEPS
    read_only: bool = False


@dataclass
class Result:
    """What a run came to. `usage` are tokens: input (cached included), cached, output. `limit` names a reached cap."""

    text: str = ""
    steps: int = 0
    diff: str = ""
    changed_files: list[str] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)
    messages: list[ModelMessage] = field(default_factory=list)
    error: str | None = None
    limit: str | None = None


async def run(
    options: RunOptions,
    workspace: Workspace,
    model: Model,
    emit: Emit,
    *,
    graph: CodeGraph | None = None,
    keep: Callable[[Sequence[ModelMessage]], None] = lambda _: None,
    pauses: Sequence[float] = PAUSES,
) -> Result:
    """Run to an answer, the cap on steps, or an error of the model; events go to `emit(kind, **payload)`.

    `keep` is given the conversation after each step, so far as it can be gone on with. To cancel, cancel the task:
    CancelledError passes through.
    """
    toolbox = Toolbox(workspace, emit, graph=graph, read_only=options.read_only)
    tools = [ModelTool[Any](function, sequential=True) for function in toolbox.tools()]
    # However often a model calls a tool wrongly, it is told so, and the cap on steps is the end of it.
    retries: AgentRetries = {"tools": options.max_steps, "output": 1}
    agent = Agent[Any, str](model, instructions=options.system_prompt, tools=tools, retries=retries)
    result = Result()
    try:
        await _Run(agent, options, _Told(emit, result), keep).to_the_end(pauses)
    except UsageLimitExceeded:
        result.limit, result.error = "steps", f"Reached the maximum number of steps ({options.max_steps})."
    except (AgentRunError, UserError) as error:
        result.error = _in_words(error)
    result.diff = workspace.diff()
    result.changed_files = changed_files(result.diff)
    return result


class _Run:
    """One conversation with the model, asked again where an answer is cut off."""

    def __init__(
        self, agent: Agent[Any, str], options: RunOptions, told: "_Told", keep: Callable[[Sequence[ModelMessage]], None]
    ) -> None:
        self._agent = agent
        self._max_steps = options.max_steps
        self._told = told
        self._keep = keep
        self._instruction: str | None = options.instruction
        self._messages = told.result.messages = list(options.history)

    async def to_the_end(self, pauses: Sequence[float]) -> None:
        left, steps = list(pauses), 0
        while True:
            try:
                await self._go_on()
                return
            except (ModelAPIError, UnexpectedModelBehavior) as error:
                if self._told.empty > 1:
                    raise UnexpectedModelBehavior("The model answered nothing, and nothing again.") from None
                if self._told.empty:
                    # it was asked again for another empty answer, long ago: this one has its own turn
                    continue
                if self._told.result.steps > steps:
                    left, steps = list(pauses), self._told.result.steps
                if not left or not _passes(error):
                    raise
                self._told.again(_in_words(error))
                await asyncio.sleep(left.pop(0))

    async def _go_on(self) -> None:
        """From the last message that is whole. Answers without words and calls are no steps."""
        limits = UsageLimits(request_limit=self._max_steps)
        async with self._agent.iter(
            self._instruction,
            message_history=self._messages or None,
            usage_limits=limits,
            usage=RunUsage(requests=self._told.result.steps),
        ) as going:
            async for node in going:
                if Agent.is_model_request_node(node):
                    self._messages = self._told.result.messages = [*going.all_messages(), node.request]
                    self._instruction = None
                    async with node.stream(going.ctx) as stream:
                        await self._told.answer(stream)
                        if self._told.used(stream.response):
                            limits.request_limit = (limits.request_limit or 0) + 1
                elif Agent.is_call_tools_node(node):
                    self._keep(self._messages)
                    async with node.stream(going.ctx) as stream:
                        await self._told.tools(stream)
            self._keep(going.all_messages())
            self._told.result.messages = going.all_messages()
            self._told.result.text = going.result.output if going.result else ""


def _passes(error: AgentRunError) -> bool:
    """Whether the same request may well be answered a little later."""
    if isinstance(error, ModelAPIError):
        return not isinstance(error, ModelRequestRejectedError | ModelQuotaExceededError)
    return type(error) is UnexpectedModelBehavior  # an empty answer; its subclasses are answers that will not change


def _in_words(error: Exception) -> str:
    """What the model's endpoint said, without what only the library's own log needs."""
    given = getattr(error, "body", None)
    body: dict[str, Any] = given if isinstance(given, dict) else {}
    said = body.get("message")
    if type(error) is UnexpectedModelBehavior:
        return error.message
    status = getattr(error, "status_code", None)
    if not status or not said:
        return f"{type(error).__name__}: {error}"
    # the provider's own name of the fault, which its sentence may lack
    code = next((f" ({body[name]})" for name in ("code", "type") if isinstance(body.get(name), str)), "")
    return f"The model's API answered {status}{code}: {said}"


class _Told:
    """Turns the library's events into ours."""

    def __init__(self, emit: Emit, result: Result) -> None:
        self.result = result
        self._emit = emit
        self._answers = 0
        self.empty = 0
        """Answers without words and calls, one after another, at the end."""

    def again(self, why: str) -> None:
        self._emit("status", text=f"{why} Trying again.")

    async def answer(self, stream: AsyncIterable[Any]) -> None:
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

    def used(self, response: ModelResponse) -> bool:
        """Whether the answer was empty: then it is no step."""
        empty, usage = not response.text and not response.tool_calls, response.usage
        self.empty = self.empty + 1 if empty else 0
        told = {"input": usage.input_tokens, "cached": usage.cache_read_tokens, "output": usage.output_tokens}
        self.result.steps += not empty
        self.result.usage = {name: self.result.usage.get(name, 0) + number for name, number in told.items()}
        self._emit("usage", steps=int(not empty), **told, cost=None)
        if empty:
            self._emit("status", text="The model answered nothing.")
        return empty

    async def tools(self, stream: AsyncIterable[Any]) -> None:
        async for event in stream:
            match event:
                case FunctionToolCallEvent(part=part):
                    given = as_arguments(part.args_as_dict())
                    self._emit("tool_started", id=part.tool_call_id, name=part.tool_name, input=given)
                case FunctionToolResultEvent(part=part):
                    output = clip(str(part.content))
                    ok = part.outcome == "success" and not output.startswith(ERROR)
                    self._emit("tool_completed", id=part.tool_call_id, name=part.tool_name, output=output, ok=ok)
