"""Claude Code's stream of JSON lines as events."""

import re
from typing import Final, Literal

from loops.runtimes.base import JSON, RuntimeEvent
from loops.runtimes.claude import tasks
from loops.runtimes.claude.failures import FAILURES
from loops.runtimes.lines import (
    LineParser,
    event,
    short,
    status,
    text_of,
    usage,
)
from loops.runtimes.plan import plan

_EDITS: Final = {"Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
_EXIT_CODE = re.compile(r"(?:Exit code|exited with code) (\d+)")
_LIMITS: Final[dict[str, Literal["steps", "cost"]]] = {"error_max_turns": "steps", "error_max_budget_usd": "cost"}
_TOKENS: Final = ("input", "cached", "output")
_THOUGHT: Final = "reasoning"
_DELTA: Final = 200
"""Characters of a live answer that are gathered before they become an event, unless a line ends first."""


class ClaudeParser(LineParser):
    """Events: `system`, `assistant`, `user`, `stream_event`, `result` and others. A step is a message of the model."""

    who = "Claude Code"
    signs = FAILURES
    cumulative = True
    names_lost = True

    def _events(self, data: JSON) -> list[RuntimeEvent]:
        return self._session(data.get("session_id")) + self._told(data)

    def _told(self, data: JSON) -> list[RuntimeEvent]:
        match data["type"]:
            case "assistant":
                return self._assistant(data)
            case "user":
                return self._user(data)
            case "stream_event":
                return self._partial(data)
            case "result":
                return self._result(data)
            case "system":
                return [_system(data)]
        return [status(str(data["type"]))]

    def _assistant(self, data: JSON) -> list[RuntimeEvent]:
        memory, message = self._memory, data["message"]
        own = not data.get("parent_tool_use_id")
        events: list[RuntimeEvent] = []
        if data.get("error"):
            memory.failure, memory.fault = text_of(message["content"]), _fault(data)
            return [event("error", message=memory.failure, final=False)]
        identity = str(message.get("id", ""))
        if identity != memory.message:
            memory.message = identity
            events.append(self._step(message.get("usage") or {}))
        for block in message["content"]:
            match block["type"]:
                case "text":
                    memory.answer = block["text"] if own else memory.answer
                    memory.pending = ""
                    events.append(event("assistant_completed", text=block["text"], message_id=identity))
                case "thinking":
                    events.append(event("reasoning", text=block["thinking"]))
                case "tool_use":
                    given = block.get("input") or {}
                    place = _EDITS.get(block["name"], "command")
                    tool = {"name": block["name"], "subject": short(given.get(place, ""))}
                    if own and block["name"] in tasks.TOOLS:
                        tool["task"] = tasks.asked(block["name"], given)
                    memory.tools[block["id"]] = tool
                    events.append(event("tool_started", id=block["id"], name=block["name"], input=given))
                case other:
                    events.append(status(str(other)))
        return events or [status("assistant")]

    def _step(self, told: JSON) -> RuntimeEvent:
        # What the message says when it begins; its output is only known at the end, from the result.
        given, cached, output = _tokens(told)
        seen = self._memory.seen
        for name, number in (("input", given), ("cached", cached), ("output", output)):
            seen[name] = seen.get(name, 0) + number
        return usage(1, tokens=(given, cached, output))

    def _user(self, data: JSON) -> list[RuntimeEvent]:
        content = data["message"]["content"]
        if isinstance(content, str):
            return [status(content)]
        events: list[RuntimeEvent] = []
        for block in content:
            if block.get("type") == "tool_result":
                events += self._tool_result(block, data.get("tool_use_result"))
            else:
                events.append(status(str(block.get("text") or block.get("type"))))
        return events or [status("user")]

    def _tool_result(self, block: JSON, detail: object) -> list[RuntimeEvent]:
        identity = block["tool_use_id"]
        tool = self._memory.tools.pop(identity, {"name": "", "subject": ""})
        name, output, ok = tool["name"], text_of(block.get("content")), not block.get("is_error")
        events = [event("tool_completed", id=identity, name=name, output=output, ok=ok)]
        if name == "Bash":
            told = _EXIT_CODE.search(output[:200])
            code = 0 if ok else int(told.group(1)) if told else None
            events.append(event("command", id=identity, command=tool["subject"], exit_code=code))
        if ok and "task" in tool:
            self._memory.plan = tasks.changed(self._memory.plan, name, tool["task"], output)
            events.append(plan(self._memory.plan))
        if name in _EDITS and ok:
            known = detail if isinstance(detail, dict) else {}
            written = known.get("content")
            size = len(written.encode()) if isinstance(written, str) else None
            change = "add" if known.get("type") == "create" else "update"
            events.append(event("file_edit", path=known.get("filePath") or tool["subject"], change=change, bytes=size))
        return events

    def _partial(self, data: JSON) -> list[RuntimeEvent]:
        memory, told = self._memory, data["event"]
        delta = told.get("delta") or {}
        if told["type"] == "message_start":
            memory.live = str(told["message"].get("id", ""))
        if data.get("parent_tool_use_id") or told["type"] not in ("content_block_delta", "content_block_stop"):
            return []
        memory.pending += delta.get("text", "") if delta.get("type") == "text_delta" else ""
        full = len(memory.pending) >= _DELTA or "\n" in memory.pending or told["type"] == "content_block_stop"
        if not full or not memory.pending:
            return []
        text, memory.pending = memory.pending, ""
        return [event("assistant_delta", text=text, message_id=memory.live)]

    def _result(self, data: JSON) -> list[RuntimeEvent]:
        memory = self._memory
        memory.answered = not data.get("is_error") and data.get("subtype") == "success"
        memory.limit = _LIMITS.get(str(data.get("subtype")))
        events = [self._rest_of_usage(data)]
        if memory.answered:
            memory.answer, memory.failure = data.get("result") or memory.answer, None
            return [*events, status("finished")]
        errors = data.get("errors") or []
        memory.failure = str(data.get("result") or "; ".join(map(str, errors)) or data.get("subtype"))
        memory.fault = {**memory.fault, **{name: known for name, known in _fault(data).items() if known}}
        return [*events, event("error", message=memory.failure, final=True)]

    def _rest_of_usage(self, data: JSON) -> RuntimeEvent:
        memory = self._memory
        whole = _by_model(data)
        told = self._of_this_turn(whole) or dict(zip(_TOKENS, _tokens(data.get("usage") or {}), strict=True))
        rest = [told.get(name, 0) - memory.seen.get(name, 0) for name in (*_TOKENS, _THOUGHT)]
        total, before = float(data.get("total_cost_usd") or 0), memory.before.get("cost", 0)
        # A total below the last turn's is that of a conversation counted anew.
        cost = total - before if total >= before else total
        already = memory.seen.get("cost", 0)
        memory.seen, memory.after = {**told, "cost": cost}, {**whole, "cost": total}
        return usage(0, tokens=(rest[0], rest[1], rest[2]), reasoning=rest[3], cost=max(0.0, cost - already) or None)

    def _of_this_turn(self, whole: dict[str, float]) -> dict[str, float] | None:
        """What was added to the models' totals since the conversation's last turn; None where that is not known."""
        before = self._memory.before
        if not whole or (before and not before.keys() >= set(_TOKENS)):
            return None
        grown = all(number >= before.get(name, 0) for name, number in whole.items())
        return {name: number - (before.get(name, 0) if grown else 0) for name, number in whole.items()}


def _by_model(data: JSON) -> dict[str, float]:
    """The tokens of all models, from the beginning of the conversation: unlike `usage` with sub-agents and retries."""
    models = [each for each in (data.get("modelUsage") or {}).values() if isinstance(each, dict)]
    if not models:
        return {}

    def of(*names: str) -> float:
        return float(sum(each.get(name) or 0 for each in models for name in names))

    given = of("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    told = dict(zip(_TOKENS, (given, of("cacheReadInputTokens"), of("outputTokens")), strict=True))
    return {**told, _THOUGHT: of("thinkingTokens")}


def _tokens(told: JSON) -> tuple[float, float, float]:
    read, written = told.get("cache_read_input_tokens") or 0, told.get("cache_creation_input_tokens") or 0
    return (told.get("input_tokens") or 0) + read + written, read, told.get("output_tokens") or 0


def _fault(data: JSON) -> JSON:
    """What a failure tells beside its text; an answer names it, the result has the status."""
    names = (data.get(name) for name in ("error", "api_error", "api_error_type"))
    overflow = data.get("terminal_reason") == "prompt_too_long"
    code = " ".join([*(name for name in names if isinstance(name, str)), *(["prompt_too_long"] if overflow else [])])
    return {"status": data.get("api_error_status"), "code": code}


def _system(data: JSON) -> RuntimeEvent:
    kind = str(data.get("subtype", "system"))
    if kind == "api_retry":
        why = data.get("error_status") or data.get("error") or "no answer"
        return status(f"the model's API answered {why}; trying again ({data.get('attempt')}/{data.get('max_retries')})")
    return status(kind)
