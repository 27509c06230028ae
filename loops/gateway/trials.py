"""The cheap request by which an account is tried, and what its answer says, by the same table as an agent's endings.
Pure.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from loops.gateway.endpoints import ROOT
from loops.runtimes import waits
from loops.runtimes.classify import classify
from loops.runtimes.failures import Failure, FailureKind, Sign, Told
from loops.runtimes.spec import Wire

ASKED: Final = "Answer with the word OK, and nothing else."
TOKENS: Final = 16
"""Of the answer, where the protocol insists on a limit or all who speak it know one."""
LONGEST: Final = 1024 * 1024
"""Bytes of an answer that is looked at: it should have a few hundred."""
NAMES: Final[Mapping[Wire, str]] = {
    "messages": "the Messages API",
    "chat": "chat completions",
    "responses": "the Responses API",
    "generate_content": "the Gemini API",
}


def path_of(wire: Wire, model: str, turn: str) -> str:
    """Where the gateway is asked."""
    ends: Mapping[Wire, str] = {
        "messages": "v1/messages",
        "chat": "v1/chat/completions",
        "responses": "v1/responses",
        "generate_content": f"v1beta/models/{model}:streamGenerateContent",
    }
    return f"{ROOT}/{turn}/{ends[wire]}"


def body_of(wire: Wire, model: str) -> dict[str, Any]:
    """What is asked. A stream, and for the Responses API nothing that is stored: a ChatGPT login takes no other."""
    said = [{"role": "user", "content": ASKED}]
    match wire:
        case "messages":
            # a login answers to who says that it is Claude Code, and a key does not mind
            system = "You are Claude Code, Anthropic's official CLI for Claude."
            return {"model": model, "max_tokens": TOKENS, "stream": True, "system": system, "messages": said}
        case "chat":
            return {"model": model, "stream": True, "messages": said}
        case "responses":
            told = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKED}]}]
            return {"model": model, "stream": True, "store": False, "instructions": ASKED, "input": told}
        case "generate_content":
            return {"contents": [{"role": "user", "parts": [{"text": ASKED}]}]}


def failure_of(
    wire: Wire, signs: tuple[Sign, ...], status: int, headers: Mapping[str, str], body: bytes
) -> Failure | None:
    """What an agent with these `signs` would have ended with; None where the model answered."""
    text = body.decode("utf-8", "replace")
    told = Told(text, status=status, retry_after=waits.of_headers(headers))
    if status != 200:
        found = classify(signs, told)
        # what no provider says is the answer of something else that stands there
        return _elsewhere(wire, status, headers) if found.kind is FailureKind.BUG else found
    for event in _events(text):
        if (error := _error_in(event)) is not None:
            return classify(signs, Told(json.dumps({"error": error})))
        if _ends(wire, event):
            return None
    return _elsewhere(wire, status, headers)


def _elsewhere(wire: Wire, status: int, headers: Mapping[str, str]) -> Failure:
    kind = headers.get("content-type", "").partition(";")[0][:60] or "no content type"
    said = f"the endpoint answers {status} ({kind}), which is no answer of {NAMES[wire]}: is its address right?"
    return Failure(FailureKind.NETWORK, said)


def _events(text: str) -> Iterator[dict[str, Any]]:
    """The events of a stream; of an answer that is none, itself."""
    lines = [line[5:] for line in text.splitlines() if line.startswith("data:")]
    for line in lines or [text]:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def _error_in(event: Mapping[str, Any]) -> Any:
    response = event.get("response")
    inside = response.get("error") if isinstance(response, dict) else None
    return inside or event.get("error")


def _ends(wire: Wire, event: Mapping[str, Any]) -> bool:
    """Whether the event is one that only a model's whole answer holds."""
    match wire:
        case "messages":
            return event.get("type") in ("message_stop", "message")
        case "chat":
            choices = event.get("choices")
            return any(each.get("finish_reason") for each in choices or () if isinstance(each, dict))
        case "responses":
            whole = event.get("object") == "response" and event.get("status") == "completed"
            return whole or event.get("type") in ("response.completed", "response.incomplete")
        case "generate_content":
            candidates = event.get("candidates")
            return any(each.get("finishReason") for each in candidates or () if isinstance(each, dict))
