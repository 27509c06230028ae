"""The output of `opencode run --format json` as events."""

import re
from typing import Final

from loops.runtimes import waits
from loops.runtimes.base import JSON, RuntimeEvent
from loops.runtimes.lines import LineParser, event, status, usage
from loops.runtimes.opencode.failures import FAILURES
from loops.runtimes.plan import items_of, plan

_EDITS: Final = {"write": "filePath", "edit": "filePath"}


class OpenCodeParser(LineParser):
    """Events: `step_start`, `text`, `reasoning`, `tool_use` (when done only), `step_finish` and `error`."""

    who = "OpenCode"
    signs = FAILURES

    def _events(self, data: JSON) -> list[RuntimeEvent]:
        return self._session(data.get("sessionID")) + self._told(data)

    def _told(self, data: JSON) -> list[RuntimeEvent]:
        memory = self._memory
        match data["type"]:
            case "step_start":
                memory.pending, memory.answered = "", False
                return [status("step started")]
            case "text":
                part = data["part"]
                memory.pending = memory.answer = part["text"]
                return [event("assistant_completed", text=part["text"], message_id=part.get("messageID", ""))]
            case "reasoning":
                return [event("reasoning", text=data["part"]["text"])]
            case "tool_use":
                return _tool(data["part"])
            case "step_finish":
                return [self._finished(data["part"])]
            case "error":
                memory.failure, memory.fault = _message(data["error"]), _fault(data["error"])
                return [event("error", message=memory.failure, final=False)]
        return [status(str(data["type"]))]

    def _finished(self, part: JSON) -> RuntimeEvent:
        memory = self._memory
        if part.get("reason") != "tool-calls" and memory.pending:
            memory.answered, memory.failure = True, None
        tokens = part.get("tokens") or {}
        cache = tokens.get("cache") or {}
        read, written = cache.get("read") or 0, cache.get("write") or 0
        given = (tokens.get("input") or 0) + read + written
        thought = tokens.get("reasoning") or 0
        output = (tokens.get("output") or 0) + thought
        # A cost of 0 for tokens that were used means that OpenCode knows no price.
        return usage(1, tokens=(given, read, output), reasoning=thought, cost=part.get("cost") or None)


def _tool(part: JSON) -> list[RuntimeEvent]:
    state, name, identity = part["state"], part["tool"], part["callID"]
    given, ok = state.get("input") or {}, state["status"] == "completed" and part["tool"] != "invalid"
    exit_code = (state.get("metadata") or {}).get("exit")
    output = str(state.get("output") or state.get("error") or "")
    events = [
        event("tool_started", id=identity, name=name, input=given),
        event("tool_completed", id=identity, name=name, output=output, ok=ok and exit_code in (None, 0)),
    ]
    if name == "bash" and "command" in given:
        events.append(event("command", id=identity, command=given["command"], exit_code=exit_code))
    if name == "todowrite" and ok:
        events.append(plan(items_of(given.get("todos"), "content")))
    if name in _EDITS and ok:
        events.append(_edit(name, given, state.get("metadata") or {}))
    if name in ("apply_patch", "patch") and ok:
        files = (state.get("metadata") or {}).get("files") or []
        kinds = {"add": "add", "delete": "delete"}
        events += [
            event("file_edit", path=_path(file), change=kinds.get(str(file.get("type")), "update"), bytes=None)
            for file in files
            if isinstance(file, dict)
        ]
    return events


def _edit(name: str, given: JSON, metadata: JSON) -> RuntimeEvent:
    added = name == "write" and metadata.get("exists") is False
    content = given.get("content")
    size = len(content.encode()) if isinstance(content, str) else None
    path = metadata.get("filepath") or given[_EDITS[name]]
    return event("file_edit", path=path, change="add" if added else "update", bytes=size)


def _path(file: JSON) -> str:
    return str(file.get("filePath") or file.get("relativePath") or "")


def _fault(error: JSON) -> JSON:
    data = error.get("data") or {}
    headers = data.get("responseHeaders")
    # the body has the provider's own name of the fault, which the message may lack
    names = re.findall(r'"(?:code|type|status)"\s*:\s*"([^"]+)"', str(data.get("responseBody") or ""))
    return {
        "status": data.get("statusCode"),
        "code": " ".join([str(error.get("name") or ""), *names]),
        "retry_after": waits.of_headers(headers) if isinstance(headers, dict) else None,
    }


def _message(error: JSON) -> str:
    data = error.get("data") or {}
    return str(data.get("message") or error.get("name") or "unknown error")
