"""The agent loop: a model, the tools, and a stream of events until there is an answer or a cap."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import Agent, AgentRetries, RunUsage, UsageLimitExceeded, UsageLimits
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelContextWindowExceededError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import BinaryContent, ModelMessage
from pydantic_ai.models import Model
from pydantic_ai.tools import Tool as ModelTool

from k8s.native.code_graph.graph import CodeGraph
from k8s.native.compaction import WINDOW, compacted, full
from k8s.native.events import Events
from k8s.native.images import holds_images, with_images, without_images
from k8s.native.tools import Emit, Toolbox
from k8s.native.workspaces.diffs import changed_files
from k8s.native.workspaces.workspace import Workspace

MAX_STEPS = 32
PAUSES = (1.0, 4.0, 15.0)
"""Seconds before an answer that was cut off or refused for the moment is asked for again, time after time.

The libraries of the providers wait for `retry-after` by themselves, but not once an answer has begun.
"""
SYSTEM_PROMPT = """\
You are a careful software engineer at work in a checkout. Look before you change; make the smallest change that does
what is asked, in the style of the code around it; check it with the project's own tests where you can. Use the tools,
several at once where one does not need the other's answer; nobody answers questions. Keep a plan of work that takes
more than two steps, and keep it up to date. When you are done, answer with a short account of what you did and why."""
_STEPS_BETWEEN = 4
"""Steps between two summaries of a conversation: one whose task alone fills the window would be summed up each time."""


@dataclass(frozen=True)
class RunOptions:
    """What a run is asked to do. `history` are the messages of an earlier run to go on from, `images` go with the
    instruction, `window` are the tokens of the model's window where it is not known by the model's name.
    """

    instruction: str
    images: Sequence[BinaryContent] = ()
    system_prompt: str = SYSTEM_PROMPT
    history: Sequence[ModelMessage] = ()
    max_steps: int = MAX_STEPS
    window: int | None = None
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
    tools = [ModelTool[Any](function) for function in toolbox.reading()]
    tools += [ModelTool[Any](function, sequential=True) for function in toolbox.changing()]
    # However often a model calls a tool wrongly, it is told so, and the cap on steps is the end of it.
    retries: AgentRetries = {"tools": options.max_steps, "output": 1}
    agent = Agent[Any, str](model, instructions=options.system_prompt, tools=tools, retries=retries)
    events, result = Events(emit), Result()
    going = _Run(agent, model, options, events, keep)
    try:
        result.text = await going.to_the_end(pauses)
    except UsageLimitExceeded:
        result.limit, result.error = "steps", f"Reached the maximum number of steps ({options.max_steps})."
    except (AgentRunError, UserError) as error:
        result.error = _in_words(error)
    result.steps, result.usage, result.messages = events.steps, events.usage, going.messages
    result.diff = workspace.diff()
    result.changed_files = changed_files(result.diff)
    return result


class _Full(Exception):
    """The conversation nears the end of the model's window."""


class _Run:
    """One conversation with the model, asked again where an answer is cut off, and summed up where it becomes long."""

    def __init__(
        self,
        agent: Agent[Any, str],
        model: Model,
        options: RunOptions,
        events: Events,
        keep: Callable[[Sequence[ModelMessage]], None],
    ) -> None:
        self._agent = agent
        self._model = model
        self._options = options
        self._window = options.window or model.context_window or WINDOW
        self._events = events
        self._keep = keep
        self._begun = False
        self._images = options.images
        self._summed_up_at: int | None = None
        self.messages = list(options.history)

    async def to_the_end(self, pauses: Sequence[float]) -> str:
        """The answer."""
        left, steps = list(pauses), 0
        while True:
            try:
                return await self._go_on()
            except _Full:
                await self._sum_up()
            except (ModelAPIError, UnexpectedModelBehavior) as error:
                if self._events.empty > 1:
                    raise UnexpectedModelBehavior("The model answered nothing, and nothing again.") from None
                if self._events.empty:
                    # it was asked again for another empty answer, long ago: this one has its own turn
                    continue
                if isinstance(error, ModelContextWindowExceededError) and self._summed_up_at != self._events.steps:
                    await self._sum_up()
                    continue
                if isinstance(error, ModelRequestRejectedError) and holds_images(self.messages):
                    self._leave_images_out(error)
                    continue
                if self._events.steps > steps:
                    left, steps = list(pauses), self._events.steps
                if not left or not _passes(error):
                    raise
                self._events.status(f"{_in_words(error)} Trying again.")
                await asyncio.sleep(left.pop(0))

    async def _go_on(self) -> str:
        """From the last message that is whole. Answers without words and calls are no steps."""
        limits = UsageLimits(request_limit=self._options.max_steps)
        prompt = with_images(self._options.instruction, self._images)
        async with self._agent.iter(
            None if self._begun else prompt,
            message_history=self.messages or None,
            usage_limits=limits,
            usage=RunUsage(requests=self._events.steps),
        ) as going:
            async for node in going:
                if Agent.is_model_request_node(node):
                    self.messages = [*going.all_messages(), node.request]
                    self._begun = True
                    if self._is_full():
                        raise _Full
                    async with node.stream(going.ctx) as stream:
                        await self._events.answer(stream)
                        if self._events.answered(stream.response):
                            limits.request_limit = (limits.request_limit or 0) + 1
                elif Agent.is_call_tools_node(node):
                    self._keep(self.messages)
                    async with node.stream(going.ctx) as stream:
                        await self._events.tools(stream)
            self.messages = going.all_messages()
            self._keep(self.messages)
            return going.result.output if going.result else ""

    def _is_full(self) -> bool:
        since = self._events.steps - (self._summed_up_at or 0)
        return (self._summed_up_at is None or since >= _STEPS_BETWEEN) and full(self.messages, self._window)

    async def _sum_up(self) -> None:
        self._events.status("The conversation became too long for the model; going on with a summary of it.")
        self.messages = await compacted(
            self.messages, self._options.instruction, self._images, self._model, self._window, self._events
        )
        self._summed_up_at = self._events.steps

    def _leave_images_out(self, error: Exception) -> None:
        self._events.status(f"{_in_words(error)} Going on without images.")
        self._images = ()
        self.messages = without_images(self.messages)


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
