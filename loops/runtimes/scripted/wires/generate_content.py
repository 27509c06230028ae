"""Google's Gemini API (`generateContent`, `streamGenerateContent`). Its refusals are those that the API documents.

Observed with Gemini CLI 0.61: the model is in the path, usage is in every chunk, thoughts count beside candidates.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from loops.runtimes.scripted.conversation import Conversation, Said, Tool
from loops.runtimes.scripted.replies import Refusal, Reply
from loops.runtimes.scripted.wires.wire import JSON, BadRequest, Calls, Event, WireFormat, parameters, pieces

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_FIELDS = {
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "safetySettings",
    "generationConfig",
    "cachedContent",
    "labels",
}


def _error(refusal: Refusal) -> JSON:
    told: JSON = {"code": refusal.status, "message": refusal.message}
    told["status"] = refusal.kind or _STATUS.get(refusal.status, "UNKNOWN")
    if refusal.retry_after is not None:
        delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{refusal.retry_after}s"}
        told["details"] = [delay]
    return {"error": told}


def _said(body: Mapping[str, Any]) -> Iterator[Said]:
    for name in body:
        if name not in _FIELDS:
            raise BadRequest(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.')
    if not body.get("contents"):
        raise BadRequest("* GenerateContentRequest.contents: contents is not specified")
    waiting = 0
    for content in body["contents"]:
        role, parts = content.get("role"), content.get("parts") or []
        if role not in ("user", "model"):
            raise BadRequest("Please use a valid role: user, model.")
        if not parts:
            raise BadRequest("* GenerateContentRequest.contents.parts: must include at least one parts field")
        calls = tuple(str(part["functionCall"]["name"]) for part in parts if "functionCall" in part)
        answers = _answers(parts)
        if (answers or waiting) and len(answers) != waiting:
            raise BadRequest(
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )
        waiting = len(calls)
        yield from (Said("tool", _result(answer)) for answer in answers)
        text = "\n".join(str(part["text"]) for part in parts if part.get("text") and not part.get("thought"))
        if text or calls:
            yield Said("assistant" if role == "model" else "user", text, calls)


def _answers(parts: list[JSON]) -> list[JSON]:
    """The results of calls. Those with one id are one: Gemini CLI 0.61 sends each twice when it resumes."""
    found = [part["functionResponse"] for part in parts if "functionResponse" in part]
    return list({answer.get("id") or f"#{at}": answer for at, answer in enumerate(found)}.values())


def _result(answer: Mapping[str, Any]) -> str:
    told = answer.get("response") or {}
    return str(told.get("output") or told.get("error") or told)


def _tools(body: Mapping[str, Any]) -> Iterator[Tool]:
    for tool in body.get("tools") or []:
        for each in tool.get("functionDeclarations") or []:
            schema = each.get("parametersJsonSchema") or each.get("parameters")
            yield Tool(str(each["name"]), False, parameters(schema))


def _system(body: Mapping[str, Any]) -> str:
    parts = (body.get("systemInstruction") or {}).get("parts") or []
    return "\n".join(str(part.get("text", "")) for part in parts)


def _chunk(conversation: Conversation, reply: Reply, part: JSON | None, *, last: bool) -> JSON:
    spoken = reply.output - reply.thought
    candidate: JSON = {"index": 0, "content": {"role": "model", "parts": [part] if part else []}}
    if last:
        candidate["finishReason"] = "STOP"
    usage = {
        "promptTokenCount": reply.input,
        "cachedContentTokenCount": reply.cached,
        "candidatesTokenCount": spoken if last else 1,
        "thoughtsTokenCount": reply.thought,
        "totalTokenCount": reply.input + (reply.output if last else 1 + reply.thought),
    }
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": conversation.model}


def _parts(reply: Reply, calls: Calls, size: int) -> list[JSON]:
    parts: list[JSON] = [{"text": reply.reasoning, "thought": True}] if reply.reasoning else []
    parts += [{"text": piece} for piece in pieces(reply.text, size)]
    parts += [{"functionCall": {"name": call.name, "args": dict(call.arguments or {})}} for call in calls]
    return parts


def _stream(conversation: Conversation, reply: Reply, calls: Calls) -> Iterator[Event]:
    parts = _parts(reply, calls, 24)
    for part in parts:
        yield None, _chunk(conversation, reply, part, last=False)
    yield None, _chunk(conversation, reply, None, last=True)


def _whole(conversation: Conversation, reply: Reply, calls: Calls) -> JSON:
    told = _chunk(conversation, reply, None, last=True)
    told["candidates"][0]["content"]["parts"] = _parts(reply, calls, max(1, len(reply.text)))
    return told


GENERATE_CONTENT = WireFormat(
    said=_said,
    tools=_tools,
    system=_system,
    stream=_stream,
    whole=_whole,
    error=_error,
)
