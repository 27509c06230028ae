"""The output of `gemini --output-format stream-json` as events."""

from typing import Final

from loops.runtimes.base import JSON, RuntimeEvent
from loops.runtimes.gemini.failures import FAILURES, STATUSES
from loops.runtimes.lines import LineParser, event, short, status, usage
from loops.runtimes.plan import items_of, plan

_EDITS: Final = ("replace", "write_file")
_LIST: Final = "write_todos"
_SHELL: Final = "run_shell_command"
_TURNS: Final = "FatalTurnLimitedError"


class GeminiParser(LineParser):
    """Events: `init`, `message`, `tool_use`, `tool_result`, `error` and `result`.

    The stream tells of a tool call or of the answer when a step of the model is over; tokens only at the end, and the
    exit code of a command not at all.
    """

    who = "Gemini CLI"
    signs = FAILURES
    statuses = STATUSES

    def _events(self, data: JSON) -> list[RuntimeEvent]:
        match data["type"]:
            case "init":
                return self._session(data["session_id"])
            case "message":
                return self._message(data)
            case "tool_use":
                return self._tool(data)
            case "tool_result":
                return self._result_of_tool(data)
            case "error":
                return [event("error", message=data["message"], final=False)]
            case "result":
                return self._result(data)
        return [status(str(data["type"]))]

    def _message(self, data: JSON) -> list[RuntimeEvent]:
        if data["role"] != "assistant":
            return [status("the prompt was read")]
        memory = self._memory
        memory.pending += data["content"]
        return [event("assistant_delta", text=data["content"], message_id=memory.live or "0")]

    def _said(self) -> list[RuntimeEvent]:
        """The message that the deltas were pieces of, once something else begins."""
        memory = self._memory
        text, identity = memory.pending, memory.live or "0"
        if not text:
            return []
        memory.answer, memory.pending, memory.live = text, "", str(int(identity) + 1)
        return [event("assistant_completed", text=text, message_id=identity)]

    def _tool(self, data: JSON) -> list[RuntimeEvent]:
        name, given, identity = data["tool_name"], data.get("parameters") or {}, data["tool_id"]
        subject = given.get("command") if name == _SHELL else given.get("file_path")
        tool = {"name": name, "subject": short(subject or "")}
        if name == _LIST:
            tool["items"] = items_of(given.get("todos"), "description")
        self._memory.tools[identity] = tool
        return [*self._said(), event("tool_started", id=identity, name=name, input=given), usage(1)]

    def _result_of_tool(self, data: JSON) -> list[RuntimeEvent]:
        identity = data["tool_id"]
        tool = self._memory.tools.pop(identity, {"name": "", "subject": ""})
        name, ok = tool["name"], data["status"] == "success"
        output = str(data.get("output") or (data.get("error") or {}).get("message") or "")
        events = [event("tool_completed", id=identity, name=name, output=output, ok=ok)]
        if name == _SHELL:
            events.append(event("command", id=identity, command=tool["subject"], exit_code=None))
        if ok and "items" in tool:
            events.append(plan(tool["items"]))
        if name in _EDITS and ok:
            events.append(event("file_edit", path=tool["subject"], change="update", bytes=None))
        return events

    def _result(self, data: JSON) -> list[RuntimeEvent]:
        memory, stats = self._memory, data.get("stats") or {}
        events = self._said()
        spoken = bool(events)
        # What is neither prompt nor answer was thought, and is paid like an answer.
        given, total = stats.get("input_tokens") or 0, stats.get("total_tokens") or 0
        said = stats.get("output_tokens") or 0
        output = max(said, total - given)
        events.append(usage(int(spoken), tokens=(given, stats.get("cached") or 0, output), reasoning=output - said))
        if data["status"] == "success":
            memory.answered, memory.failure = bool(memory.answer), None
            return [*events, status("finished")]
        fault = data.get("error") or {}
        memory.limit = "steps" if fault.get("type") == _TURNS else None
        memory.failure = str(fault.get("message") or fault.get("type") or "unknown error")
        return [*events, event("error", message=memory.failure, final=True)]
