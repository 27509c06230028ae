"""What a request has used, read from its answer while that passes. Pure.

Where each protocol tells it was observed; what an answer that was broken off has used is an estimate.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from loops.runtimes.prices import cost_of
from loops.runtimes.spec import Price, Wire

LONGEST: Final = 8 * 1024 * 1024
"""Bytes of one event, or of an answer that is not streamed, that are looked into; what is longer passes unread."""
BYTES_OF_TOKEN: Final = 4
_WRITTEN, _WRITTEN_FOR_AN_HOUR = 0.25, 1.0
"""What Anthropic asks beyond the price of input for a token that goes into a cache, for 5 minutes or an hour."""


@dataclass(frozen=True)
class Used:
    """Tokens: `input` with the `cached` ones; `output` with those of `reasoning`. `extra` are tokens of input that are
    paid once more, for their place in a cache. `estimated`: the provider did not tell.
    """

    input: int = 0
    cached: int = 0
    output: int = 0
    extra: float = 0.0
    estimated: bool = False
    reasoning: int = 0

    def cost(self, price: Price | None) -> float:
        """US dollars; 0 where nobody knows the price."""
        told = {"input": self.input, "cached": self.cached, "output": self.output}
        found = cost_of(told, price)
        return found + self.extra * price.input / 1_000_000 if found is not None and price is not None else 0.0


class UsageReader:
    """Reads one answer, piece by piece. `used` is what it told so far; `whole`: no more is to come."""

    def __init__(self, wire: Wire, asked: int, *, stream: bool) -> None:
        self._wire = wire
        self._asked = asked
        self._stream = stream
        self._rest = b""
        self._events = 0
        self._told: dict[str, Any] = {}
        self.whole = False
        self.passing_over = False

    def feed(self, piece: bytes) -> None:
        """The next bytes of the answer."""
        if not self._stream:
            self._rest = b"" if self.passing_over else self._rest + piece
            self.passing_over = self.passing_over or len(self._rest) > LONGEST
            return
        if b"\n" not in piece:
            self._keep(piece)
            return
        *lines, rest = (self._rest + piece).split(b"\n")
        self._rest = b""
        for line in lines:
            if not self.passing_over:
                self._line(line)
            self.passing_over = False
        self._keep(rest)

    def end(self) -> None:
        """There are no more bytes."""
        if not self._stream and self._rest and not self.passing_over:
            self._event(self._rest)
        self.whole = self.whole or (bool(self._told) and self._wire == "generate_content") or not self._stream

    @property
    def used(self) -> Used:
        """What was used, as told; else an estimate by the size of what was asked and answered."""
        if self._told:
            told = _USED[self._wire](self._told)
            return told if self.whole else replace(told, output=max(told.output, self._events), estimated=True)
        return Used(self._asked // BYTES_OF_TOKEN, 0, self._events, estimated=True)

    def _keep(self, rest: bytes) -> None:
        self._rest += rest
        if len(self._rest) > LONGEST:
            self._rest, self.passing_over = b"", True

    def _line(self, line: bytes) -> None:
        if not line.startswith(b"data:"):
            return
        self._events += 1
        if b'"usage' in line:  # and `usageMetadata`
            self._event(line[5:])

    def _event(self, data: bytes) -> None:
        try:
            event = msgspec.json.decode(data)
        except (ValueError, RecursionError):
            return
        if isinstance(event, dict):
            told, last = _TOLD[self._wire](event)
            for name, value in told.items():
                # what is told again has grown; some proxies tell zeros at the end
                self._told[name] = max(self._told.get(name) or 0, value) if isinstance(value, int) else value
            self.whole = self.whole or (last and bool(self._told))


def _messages(event: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    if event.get("type") == "message_start":
        return _dict(_dict(event.get("message")).get("usage")), False
    return _dict(event.get("usage")), event.get("type") == "message_delta"


def _responses(event: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    response = _dict(event.get("response")) or event
    return _dict(response.get("usage")), True


def _chat(event: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    # some tell it in every chunk; that without a choice is the last
    return _dict(event.get("usage")), not event.get("choices")


def _gemini(event: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    candidates = event.get("candidates")
    ended = isinstance(candidates, list) and any(_dict(each).get("finishReason") for each in candidates)
    return _dict(event.get("usageMetadata")), ended


def _used_messages(told: Mapping[str, Any]) -> Used:
    read, written = _int(told, "cache_read_input_tokens"), _int(told, "cache_creation_input_tokens")
    long = min(written, _int(_dict(told.get("cache_creation")), "ephemeral_1h_input_tokens"))
    extra = (written - long) * _WRITTEN + long * _WRITTEN_FOR_AN_HOUR
    thought = _int(_dict(told.get("output_tokens_details")), "thinking_tokens")
    return Used(
        _int(told, "input_tokens") + read + written, read, _int(told, "output_tokens"), extra, reasoning=thought
    )


def _used_responses(told: Mapping[str, Any]) -> Used:
    cached = _int(_dict(told.get("input_tokens_details")), "cached_tokens")
    thought = _int(_dict(told.get("output_tokens_details")), "reasoning_tokens")
    return Used(_int(told, "input_tokens"), cached, _int(told, "output_tokens"), reasoning=thought)


def _used_chat(told: Mapping[str, Any]) -> Used:
    cached = _int(_dict(told.get("prompt_tokens_details")), "cached_tokens") or _int(told, "prompt_cache_hit_tokens")
    thought = _int(_dict(told.get("completion_tokens_details")), "reasoning_tokens")
    return Used(_int(told, "prompt_tokens"), cached, _int(told, "completion_tokens"), reasoning=thought)


def _used_gemini(told: Mapping[str, Any]) -> Used:
    given = _int(told, "promptTokenCount") + _int(told, "toolUsePromptTokenCount")
    thought = _int(told, "thoughtsTokenCount")
    output = _int(told, "candidatesTokenCount") + thought
    return Used(given, _int(told, "cachedContentTokenCount"), output, reasoning=thought)


_TOLD: Final = {"messages": _messages, "responses": _responses, "chat": _chat, "generate_content": _gemini}
_USED: Final = {
    "messages": _used_messages,
    "responses": _used_responses,
    "chat": _used_chat,
    "generate_content": _used_gemini,
}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _int(told: Mapping[str, Any], name: str) -> int:
    value = told.get(name)
    return max(0, int(value)) if isinstance(value, int | float) and not isinstance(value, bool) else 0
