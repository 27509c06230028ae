"""The output of `codex exec --json` as events."""

from typing import Final

from loops.runtimes.base import JSON, ProcessEnd, RuntimeEvent
from loops.runtimes.codex.failures import FAILURES
from loops.runtimes.lines import LineParser, event, short, status, text_of, usage
from loops.runtimes.plan import plan, step

_TOOLS: Final = {"command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"}
_LIST: Final = "todo_list"
_TOTALS: Final = ("input", "cached", "output", "reasoning")


class CodexParser(LineParser):
    """Events: `thread.*`, `turn.*`, `item.*` and `error`. A step is a tool call, or the answer; there are no deltas."""

    who = "Codex"
    signs = FAILURES
    cumulative = True

    def _left(self, ending: ProcessEnd) -> str:
        left = next((text for path, text in ending.files.items() if path.endswith("last-message.txt")), b"")
        return left.decode(errors="replace").strip()

    def _events(self, data: JSON) -> list[RuntimeEvent]:
        memory = self._memory
        match data["type"]:
            case "thread.started":
                memory.session = str(data["thread_id"])
                return [event("session", id=memory.session)]
            case "item.started" | "item.updated" | "item.completed" if data["item"]["type"] == _LIST:
                return self._plan(data["item"].get("items"))
            case "item.started":
                return self._started(data["item"])
            case "item.completed":
                return self._completed(data["item"])
            case "turn.completed":
                memory.answered, memory.failure = True, None
                return [self._usage(data.get("usage") or {})]
            case "turn.failed":
                memory.failure = str(data["error"]["message"])
                return [event("error", message=memory.failure, final=True)]
            case "error":
                memory.failure = memory.failure or str(data["message"])
                return [event("error", message=data["message"], final=False)]
        return [status(str(data["type"]))]

    def _plan(self, listed: object) -> list[RuntimeEvent]:
        """The check list as it is now. Codex tells what is done, not what it is at; at the end of a turn all again."""
        memory = self._memory
        steps = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        told = plan(step(each.get("text", ""), "done" if each.get("completed") else "pending") for each in steps)
        if told.payload["items"] == memory.plan:
            return [status(_LIST)]
        memory.plan = told.payload["items"]
        return [told]

    def _started(self, item: JSON) -> list[RuntimeEvent]:
        if item["type"] not in _TOOLS:
            return [status(f"{item['type']} started")]
        self._memory.tools[item["id"]] = {}
        name, given = _tool(item)
        return [event("tool_started", id=item["id"], name=name, input=given), usage(1)]

    def _completed(self, item: JSON) -> list[RuntimeEvent]:
        kind, identity = item["type"], item.get("id", "")
        if kind == "agent_message":
            self._memory.answer = item["text"]
            return [event("assistant_completed", text=item["text"], message_id=identity)]
        if kind == "reasoning":
            return [event("reasoning", text=item["text"])]
        if kind not in _TOOLS:
            return [status(str(item.get("message") or item.get("text") or kind))]
        # A tool that was never announced still counts as a step.
        events = [] if self._memory.tools.pop(identity, None) is not None else self._started(item)
        self._memory.tools.pop(identity, None)
        name, _ = _tool(item)
        output = item.get("aggregated_output") or text_of((item.get("result") or {}).get("content"))
        output = output or str((item.get("error") or {}).get("message", ""))
        ok = item.get("status") != "failed"
        events.append(event("tool_completed", id=identity, name=name, output=output, ok=ok))
        if kind == "command_execution":
            code = item.get("exit_code")
            events.append(event("command", id=identity, command=item["command"], exit_code=code))
        if kind == "file_change" and ok:
            for change in item["changes"]:
                events.append(event("file_edit", path=change["path"], change=change["kind"], bytes=None))
        return events

    def _usage(self, told: JSON) -> RuntimeEvent:
        memory = self._memory
        names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
        after = dict(zip(_TOTALS, (float(told.get(name) or 0) for name in names), strict=True))
        # Totals below those of the last turn mean that the CLI began to count anew.
        grown = all(after[name] >= memory.before.get(name, 0) for name in _TOTALS)
        base = memory.seen or (memory.before if grown else {})
        added = [after[name] - base.get(name, 0) for name in _TOTALS]
        memory.seen, memory.after = after, after
        return usage(1, tokens=(added[0], added[1], added[2]), reasoning=added[3])


def _tool(item: JSON) -> tuple[str, JSON]:
    match item["type"]:
        case "command_execution":
            return "shell", {"command": item["command"]}
        case "file_change":
            return "apply_patch", {"paths": [short(change["path"]) for change in item["changes"]]}
        case "web_search":
            return "web_search", {"query": item.get("query", "")}
        case other:
            name = ".".join(str(item[part]) for part in ("server", "tool") if item.get(part))
            return name or other, {"arguments": item.get("arguments")}
