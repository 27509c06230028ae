"""The agent loop: a model, the tools, and a stream of events until there is an answer or a cap."""

from collections.abc import AsyncIterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import Agent, AgentRun, UsageLimitExceeded, UsageLimits
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessage,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
)
from pydantic_ai.models import Model
from pydantic_ai.tools import Tool as ModelTool

from k8s.native.code_graph import CodeGraph
from k8s.native.diffs import changed_files
from k8s.native.tools import ERROR, Emit, Toolbox, as_arguments, clip
from k8s.native.workspace import Workspace

MAX_STEPS = 32
SYSTEM_PROMPT = """\
You are a careful software engineer at work in a checkout. Look before you change; make the smallest change that does
what is asked, in the style of the code around it; check it with the project's own tests where you can. Use the tools;
nobody answers questions. When you are done, answer with a short account of what you did and why."""


@dataclass(frozen=True)
class Options:
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
    options: Options, workspace: Workspace, model: Model, emit: Emit, *, graph: CodeGraph | None = None
) -> Result:
    """Run to an answer, the cap on steps, or an error of the model; events go to `emit(kind, **payload)`.

    To cancel, cancel the task: CancelledError passes through, and the messages so far are lost.
    """
    toolbox = Toolbox(workspace, emit, graph=graph, read_only=options.read_only)
    tools = [ModelTool[Any](function, sequential=True) for function in toolbox.tools()]
    agent = Agent[Any, str](model, instructions=options.system_prompt, tools=tools)
    limits = UsageLimits(request_limit=options.max_steps)
    result = Result(messages=list(options.history))
    told = _Told(emit, result)
    try:
        async with agent.iter(
            options.instruction, message_history=list(options.history) or None, usage_limits=limits
        ) as going:
            await _follow(going, told)
            result.messages = going.all_messages()
        result.text = going.result.output if going.result else ""
    except UsageLimitExceeded:
        result.limit, result.error = "steps", f"Reached the maximum number of steps ({options.max_steps})."
    except (AgentRunError, UserError) as error:
        result.error = f"{type(error).__name__}: {error}"
    result.diff = workspace.diff()
    result.changed_files = changed_files(result.diff)
    return result


async def _follow(going: AgentRun[Any, str], told: "_Told") -> None:
    async for node in going:
        if Agent.is_model_request_node(node):
            async with node.stream(going.ctx) as stream:
                await told.answer(stream)
            told.used(going)
        elif Agent.is_call_tools_node(node):
            async with node.stream(going.ctx) as stream:
                await told.tools(stream)


class _Told:
    """Turns the library's events into ours."""

    def __init__(self, emit: Emit, result: Result) -> None:
        self._emit = emit
        self._result = result
        self._before = (0, 0, 0)

    async def answer(self, stream: AsyncIterable[Any]) -> None:
        message = f"m{self._result.steps + 1}"
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

    def used(self, going: AgentRun[Any, str]) -> None:
        usage = going.usage
        after = (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens)
        given, cached, output = (now - then for now, then in zip(after, self._before, strict=True))
        self._before = after
        self._result.steps += 1
        self._result.usage = dict(zip(("input", "cached", "output"), after, strict=True))
        self._emit("usage", steps=1, input=given, cached=cached, output=output, cost=None)

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
