"""From the bytes a box sent to events that may be shown: whole lines, parsed, merged, redacted, bounded. No I/O."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from k8s.runner.protocol import LONGEST_LINE, OUTPUT_CHUNK
from loops.runtimes.base import EVENT_TEXT, JSON, Parser, RuntimeEvent, clip
from loops.runtimes.prices import cost_of
from loops.runtimes.spec import Price, RuntimeSpec
from loops.secrets.redact import Redactor
from loops.store.journal import Entry

PAYLOAD_TEXT = 60_000
"""Characters of text in all that one event may hold."""
HEAD_OF_CUT_LINE = 64 * 1024
FORCED_AT = OUTPUT_CHUNK // 2
"""Bytes at which text is let go although its end may be the beginning of a secret: else a box would stop sending."""

LOOK_BACK = 50
"""Lines at the end of which a break is looked for; a longer word without one waits as a whole."""

Totals = Mapping[str, float] | None

_MOST = 10**15
_COUNTED = ("steps", "input", "cached", "output", "reasoning")
_STREAMED = ("assistant_delta", "reasoning")


@dataclass
class TurnUsage:
    """What the turn used, as its CLI counts. `cost` in US dollars.

    Where a CLI tells no cost, `price` gives an estimate. `estimated` is the part of the cost so far that is one: a CLI
    that tells its cost at the end tells all of it, and the estimates go.
    """

    steps: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    cost: float = 0.0
    price: Price | None = None
    estimated: float = 0.0

    def add(self, payload: Mapping[str, Any]) -> None:
        """Add a usage event's payload; what is no number counts nothing."""
        counted = {name: max(0, int(_number(payload.get(name)))) for name in _COUNTED}
        for name, number in counted.items():
            setattr(self, name, getattr(self, name) + number)
        if payload.get("cost") is None:
            estimate = cost_of({**counted, "cost": None}, self.price) or 0.0
            self.cost, self.estimated = self.cost + estimate, self.estimated + estimate
            return
        self.cost += max(0.0, _number(payload.get("cost")))
        if not counted["steps"]:
            self.cost, self.estimated = self.cost - self.estimated, 0.0

    @property
    def used(self) -> bool:
        """Whether anything was."""
        return any((self.steps, self.input, self.cached, self.output, self.cost))


@dataclass
class ParsedOutput:
    """`taken` bytes of the data became `entries`; `state` is what to go on with; `edited` are paths, as told."""

    taken: int
    state: JSON
    entries: list[Entry] = field(default_factory=list)
    usage: TurnUsage = field(default_factory=TurnUsage)
    edited: set[str] = field(default_factory=set)

    @property
    def plan(self) -> list[JSON] | None:
        """The check list as it was told last; None: nothing was said of one."""
        told = next((payload for kind, payload in reversed(self.entries) if kind == "plan"), None)
        items = (told or {}).get("items")
        return items if isinstance(items, list) else None


def parser_of(runtime: RuntimeSpec, state: Mapping[str, Any], totals: Totals = None) -> Parser:
    """The parser to go on with after `state`, which is `Turn.parser_state`; an empty one is a new turn's.

    `totals` are those of the conversation that the turn resumes.
    """
    return runtime.parser(state.get("parser"), totals=totals)


def parse_output(
    runtime: RuntimeSpec,
    state: Mapping[str, Any],
    data: bytes,
    redactor: Redactor,
    *,
    end: bool,
    totals: Totals = None,
    price: Price | None = None,
) -> ParsedOutput:
    """Take as many whole lines of `data` as can be shown now; with `end`, all of it.

    Lines whose last word could be the beginning of a secret that goes on in the next line's text are left for the next
    time: the box sends them again.
    """
    lines, cut = _lines(data, end=end)

    def begin() -> _Work:
        usage = TurnUsage(price=price, estimated=float(state.get("estimated") or 0.0))
        return _Work(parser_of(runtime, state, totals), redactor, usage, skipping=bool(state.get("cut")))

    work = begin()
    for line in lines:
        work.line(line)
    safe = len(lines) if end or cut or len(data) >= FORCED_AT else work.safe()
    if safe < len(lines):
        lines = lines[:safe]
        work = begin()
        for line in lines:
            work.line(line)
    if cut:
        work.cut()
    work.flush()
    # a parser may remember text that was printed, and its memory is stored
    new_state: JSON = {"parser": redactor.value(work.parser.state())}
    if work.skipping:
        new_state["cut"] = True
    if work.usage.estimated:
        new_state["estimated"] = work.usage.estimated
    return ParsedOutput(sum(map(len, lines)), new_state, work.entries, work.usage, work.edited)


def entries_of(
    events: Sequence[RuntimeEvent], redactor: Redactor, price: Price | None = None
) -> tuple[list[Entry], TurnUsage]:
    """Events that came from elsewhere than a line (the ending of a turn), redacted and bounded in the same way."""
    usage = TurnUsage(price=price)
    for event in events:
        if event.kind == "usage":
            usage.add(event.payload)
    return [_entry(event, redactor) for event in events if event.kind != "usage"], usage


def _lines(data: bytes, *, end: bool) -> tuple[list[bytes], bool]:
    """(lines with their line ends, whether the last was cut in its middle)."""
    *whole, rest = data.split(b"\n")
    lines = [line + b"\n" for line in whole] + ([rest] if rest else [])
    if not lines or lines[-1].endswith(b"\n") or end:
        return lines, False
    if len(lines[-1]) >= LONGEST_LINE:
        return lines, True
    return lines[:-1], False


class _Work:
    """Lines in, entries out. The text of the message that is being streamed is collected until it is flushed."""

    def __init__(self, parser: Parser, redactor: Redactor, usage: TurnUsage, *, skipping: bool) -> None:
        self.parser = parser
        self.skipping = skipping
        self.entries: list[Entry] = []
        self.usage = usage
        self.edited: set[str] = set()
        self._redactor = redactor
        self._streamed: RuntimeEvent | None = None
        self._text: list[str] = []
        self._length = 0
        self._message = 0
        self._marks: list[tuple[int, int]] = []  # after each line: the open message, and how long it was

    def line(self, line: bytes) -> None:
        if self.skipping:
            self.skipping = not line.endswith(b"\n")
        else:
            if len(line) >= LONGEST_LINE:
                line = line[:HEAD_OF_CUT_LINE]
            for event in self.parser.parse(line.decode("utf-8", "replace").rstrip("\r\n")):
                self._event(event)
        self._marks.append((self._message, self._length))

    def cut(self) -> None:
        self.skipping = True
        note = f"a line of more than {LONGEST_LINE} bytes was cut here"
        self._event(RuntimeEvent("status", {"text": note}))

    def safe(self) -> int:
        """How many of the lines can be shown without tearing a secret apart that goes on behind the last of them."""
        text = "".join(self._text)
        for number in range(len(self._marks), 0, -1):
            message, length = self._marks[number - 1]
            if message != self._message or (length == 0 and not text):
                return number
            if len(self._marks) - number < LOOK_BACK and not self._redactor.ends_open(text[:length]):
                return number
        return 0

    def _event(self, event: RuntimeEvent) -> None:
        if event.kind == "usage":
            self.usage.add(event.payload)
            return
        if event.kind == "file_edit":
            self.edited.add(str(event.payload.get("path") or ""))
        if event.kind not in _STREAMED:
            self.flush()
            self.entries.append(_entry(event, self._redactor))
            return
        if self._streamed is not None and not _same_message(self._streamed, event):
            self.flush()
        self._streamed = event
        text = str(event.payload.get("text", ""))
        self._text.append(text)
        self._length += len(text)

    def flush(self) -> None:
        if self._streamed is not None:
            text = clean(self._redactor.text("".join(self._text)))
            for start in range(0, len(text), EVENT_TEXT):
                payload = {**self._streamed.payload, "text": text[start : start + EVENT_TEXT]}
                self.entries.append((self._streamed.kind, payload))
        self._streamed = None
        self._text, self._length = [], 0
        self._message += 1


def _same_message(one: RuntimeEvent, other: RuntimeEvent) -> bool:
    return one.kind == other.kind and one.payload.get("message_id") == other.payload.get("message_id")


def _entry(event: RuntimeEvent, redactor: Redactor) -> Entry:
    payload = redactor.value(event.payload)
    return event.kind, bounded(payload if isinstance(payload, dict) else {"value": payload})


def bounded(payload: JSON) -> JSON:
    """`payload` with long texts clipped, so that no event is larger than a page can show."""
    if _size(payload) <= PAYLOAD_TEXT:
        short = _clipped(payload, EVENT_TEXT)
    else:
        short = next(
            (less for limit in (10_000, 2_000, 200) if _size(less := _clipped(payload, limit)) <= PAYLOAD_TEXT), None
        )
    return short if isinstance(short, dict) else {"text": clip(clean(repr(payload)), EVENT_TEXT)}


def _size(value: object) -> int:
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, dict):
        return sum(_size(key) + _size(item) for key, item in value.items())
    if isinstance(value, list):
        return sum(map(_size, value)) + len(value)
    return 8


def _clipped(value: object, limit: int) -> object:
    if isinstance(value, str):
        return clip(clean(value), limit)
    if isinstance(value, dict):
        return {clip(clean(str(key)), 200): _clipped(item, limit) for key, item in value.items()}
    if isinstance(value, list):
        return [_clipped(item, limit) for item in value]
    return value


def clean(text: str) -> str:
    """Without what PostgreSQL (NUL) or UTF-8 (half surrogates) cannot hold."""
    if "\x00" in text:
        text = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text


def _number(value: object) -> float:
    good = isinstance(value, int) and not isinstance(value, bool)
    good = good or (isinstance(value, float) and math.isfinite(value))
    return float(min(value, _MOST)) if good and isinstance(value, int | float) else 0.0
