"""What the parsers of JSON lines have in common."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal, Self

from loops.runtimes.base import JSON, EventKind, Outcome, ProcessEnd, RuntimeEvent, clip, plain, process_error
from loops.runtimes.classify import LONGEST, classify
from loops.runtimes.failures import Failure, FailureKind, Sign, Told

# Gone, or its files are broken.
_NO_CONVERSATION = re.compile(
    r"no (?:rollout|conversation|session) found|session not found|thread/resume failed|failed to resume session",
    re.IGNORECASE,
)
_REMEMBERED = 2_000
_DIGITS = 15


@dataclass
class Memory:
    """What a parser remembers between lines; small, and JSON all through.

    `answer` is the final answer so far, `failure` the last error that may be the end, `fault` what is
    known of it beside its text (as in `Told`), `tools` the open tool calls by
    id, `seen` the tokens and cost already told as usage, `before` the CLI's running totals at the turn's beginning and
    `after` those at its end, `pending` text that is not an event yet, `message` and `live` ids of the model's messages,
    `plan` the check list.
    """

    session: str | None = None
    answer: str = ""
    answered: bool = False
    failure: str | None = None
    fault: JSON = field(default_factory=dict)
    limit: Literal["steps", "cost"] | None = None
    tools: dict[str, JSON] = field(default_factory=dict)
    seen: dict[str, float] = field(default_factory=dict)
    before: dict[str, float] = field(default_factory=dict)
    after: dict[str, float] = field(default_factory=dict)
    pending: str = ""
    message: str = ""
    live: str = ""
    plan: list[JSON] = field(default_factory=list)

    @classmethod
    def of(cls, state: JSON | None, totals: Mapping[str, float] | None) -> "Memory":
        """From `dump()`, or new with the resumed conversation's totals."""
        return cls(**state) if state else cls(before=dict(totals or {}), after=dict(totals or {}))

    def dump(self) -> JSON:
        """As JSON."""
        return asdict(self)


class LineParser(ABC):
    """What the parsers of JSON lines have in common: a line is read by `_events`, and what it says is in `_memory`.

    `who` names the CLI in errors, `signs` is its table of failures, `statuses` the HTTP statuses of
    which its exit codes tell. `names_lost` says that it names a conversation even
    where the one to resume is gone, `cumulative` that it counts tokens or cost from the beginning of a conversation.
    """

    who: ClassVar[str]
    signs: ClassVar[tuple[Sign, ...]] = ()
    statuses: ClassVar[Mapping[int, int]] = {}
    names_lost: ClassVar[bool] = False
    cumulative: ClassVar[bool] = False

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @classmethod
    def begin(cls, state: JSON | None = None, *, totals: Mapping[str, float] | None = None) -> Self:
        """A parser for one turn: new (with the `totals` of the resumed conversation) or going on from `state`."""
        return cls(Memory.of(state, totals if cls.cumulative else None))

    def parse(self, line: str) -> list[RuntimeEvent]:
        """The events of one line."""
        data = as_object(line)
        try:
            events = self._events(data) if data else [status(line)]
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            events = [status(line)]
        if self._memory.failure:
            self._memory.failure = clip(self._memory.failure, LONGEST)
        return events

    def state(self) -> JSON:
        """The parser's memory."""
        return self._memory.dump()

    def outcome(self, ending: ProcessEnd) -> Outcome:
        """The answer, if there is one; else what went wrong."""
        memory = self._memory
        message = text_of(memory.answer) or self._left(ending)
        if memory.answered:
            return Outcome(message, None, memory.session, memory.after)
        # What a CLI says when it is interrupted is not the reason.
        failure = self._failed(ending)
        gone = no_conversation(ending.stderr_tail, memory.failure or "")
        fresh = gone and (self.names_lost or memory.session is None)
        return Outcome(
            message,
            failure.message,
            None if fresh else memory.session,
            memory.after,
            retry_fresh=fresh,
            limit=memory.limit,
            failure=failure,
        )

    def _failed(self, ending: ProcessEnd) -> Failure:
        memory, exited = self._memory, ending.reason == "exited"
        text = (memory.failure if exited else None) or process_error(self.who, ending)
        fault = dict(memory.fault) if exited and memory.failure else {}
        if not fault.get("status") and exited:
            fault["status"] = self.statuses.get(ending.exit_code or 0)
        found = classify(self.signs, Told(text, exit_code=ending.exit_code, exited=exited, now=ending.now, **fault))
        if found.kind is not FailureKind.BUG or not memory.failure or not ending.stderr_tail:
            return found
        # what its stream does not tell, its stderr may
        told = Told(process_error(self.who, ending), exit_code=ending.exit_code, now=ending.now)
        other = classify(self.signs, told)
        return found if other.kind is FailureKind.BUG else other

    @abstractmethod
    def _events(self, data: JSON) -> list[RuntimeEvent]:
        """The events of one line; what raises for an odd one is a `status`."""

    def _left(self, ending: ProcessEnd) -> str:
        """An answer that was left elsewhere than in the stream."""
        return ""

    def _session(self, identity: object) -> list[RuntimeEvent]:
        """The event of a conversation's id, the first time it is told."""
        if not identity or identity == self._memory.session:
            return []
        self._memory.session = str(identity)
        return [event("session", id=identity)]


def as_object(line: str) -> JSON | None:
    """The JSON object on `line`, or None. Numbers that no database holds are None in it."""
    try:
        data = json.loads(line, parse_int=_int, parse_float=_float, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _int(digits: str) -> int | None:
    return int(digits) if len(digits) <= _DIGITS else None


def _float(digits: str) -> float | None:
    found = float(digits)
    return found if abs(found) < 10.0**_DIGITS else None


def event(kind: EventKind, **payload: Any) -> RuntimeEvent:
    """An event whose texts are clipped."""
    return RuntimeEvent(kind, {name: _clipped(value) for name, value in payload.items()})


def status(text: str) -> RuntimeEvent:
    """A line that is worth keeping but says nothing we know."""
    return event("status", text=text)


def usage(
    steps: int = 0,
    *,
    tokens: tuple[float, float, float] = (0, 0, 0),
    reasoning: float = 0,
    cost: float | None = None,
) -> RuntimeEvent:
    """A usage event; `tokens` are input (cached included), cached and output (`reasoning` included)."""
    given, cached, output, thought = (max(0, int(number)) for number in (*tokens, reasoning))
    told = {"steps": steps, "input": given, "cached": cached, "output": output, "reasoning": thought, "cost": cost}
    return RuntimeEvent("usage", told)


def text_of(content: object) -> str:
    """Text of a tool result: a string, or a list of blocks of which the texts count."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return "" if content is None else json.dumps(content)


def short(text: object) -> str:
    """A value that a parser remembers: cut, so that its state stays small."""
    return str(text)[:_REMEMBERED]


def no_conversation(*texts: str) -> bool:
    """Whether one of `texts` says that the conversation to resume does not exist (any more), or cannot be read."""
    return any(_NO_CONVERSATION.search(plain(text)) for text in texts)


def _clipped(value: Any) -> Any:
    if isinstance(value, str):
        return clip(value)
    if isinstance(value, dict):
        return {key: _clipped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clipped(item) for item in value]
    return value
