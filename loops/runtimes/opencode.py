"""OpenCode 1.18 (`opencode run --format json`). Its behaviour is as observed with the real program."""

import json
import re
from collections.abc import Mapping

from loops.runtimes.base import (
    JSON,
    BoxFile,
    Invocation,
    RuntimeEvent,
    TurnRequest,
    executable,
)
from loops.runtimes.lines import LineParser, Memory, event, status, usage

# Providers whose own protocol OpenCode speaks; behind a base URL of one's own everything else is chat completions.
_OWN_PROTOCOL = {"anthropic": "@ai-sdk/anthropic"}
_COMPATIBLE = "@ai-sdk/openai-compatible"
_CUSTOM_LIMITS = {"context": 200_000, "output": 32_000}
# Without the first, a box without egress waits 8 s for a list of models. The checkout may come from a stranger: its
# configuration could send the key elsewhere, and its skills and CLAUDE.md are no orders of ours.
_ENV = dict.fromkeys(
    (
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_SHARE",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "OPENCODE_DISABLE_EXTERNAL_SKILLS",
        "OPENCODE_DISABLE_CLAUDE_CODE",
    ),
    "1",
)
# With a file that it reads, OpenCode hands the model the AGENTS.md beside it, as instructions, and no setting stops it.
# Nothing of the file itself can look like the end of it: its lines are numbered.
_PLUGIN = b"""\
const end = "\\n</content>"
export const OnlyTheFile = async () => ({
  "tool.execute.after": async ({ tool }, result) => {
    if (tool === "read" && result.metadata?.loaded?.length)
      result.output = result.output.split(`${end}\\n\\n<system-reminder>\\n`, 1)[0] + end
  },
})
"""
_REFERENCE = re.compile(r"\{(?:env|file):")
_EDITS = {"write": "filePath", "edit": "filePath"}


class OpenCodeRuntime:
    """OpenCode on a provider's API key, or on any endpoint that speaks chat completions."""

    name = "opencode"

    def command(self, turn: TurnRequest) -> Invocation:
        """Raises ValueError without a model (OpenCode would pick one of its own) or where a name holds a reference."""
        if not turn.model:
            raise ValueError('The "opencode" runtime needs a model: set it on the profile or in the request.')
        odd = next((text for text in (turn.model, turn.provider, turn.base_url) if _REFERENCE.search(text)), None)
        if odd is not None:
            raise ValueError(
                f'The "opencode" runtime would read a file or variable for {odd!r}: write it without braces.'
            )
        provider = _provider_id(turn)
        argv = [*executable(turn, "opencode"), "run", "--format", "json", "--auto"]
        argv += ["--model", f"{provider}/{turn.model}", "--title", f"greenloop {turn.session}"]
        if turn.resume:
            # From another directory than the conversation's first, OpenCode hangs.
            argv += ["--session", turn.resume.id, "--dir", turn.resume.cwd]
        env = {
            **_ENV,
            "OPENCODE_CONFIG_CONTENT": json.dumps(_config(turn, provider)),
            # One for each session: a conversation that breaks takes no other with it.
            "OPENCODE_DB": f"{{home}}/{_home(turn)}/conversations.db",
        }
        plugin = BoxFile(f"{_home(turn)}/plugin.js", _PLUGIN)
        return Invocation(tuple(argv), {**env, **turn.env}, files=(*self.files(turn), plugin), stdin=turn.prompt)

    def files(self, turn: TurnRequest) -> tuple[BoxFile, ...]:
        """The API key, as a file: in the environment every shell that a tool opens would have it."""
        if turn.credential.kind != "api_key":
            return ()
        return (BoxFile(f"{_home(turn)}/key", turn.credential.secret.encode(), secret=True),)

    def parser(self, state: JSON | None = None, *, totals: Mapping[str, float] | None = None) -> "OpenCodeParser":
        """OpenCode counts per step, so `totals` are of no use to it."""
        return OpenCodeParser(Memory.of(state, None))


def _provider_id(turn: TurnRequest) -> str:
    # A provider's own name keeps OpenCode's knowledge of it; a custom endpoint must not be taken for the original.
    if turn.base_url and turn.provider not in _OWN_PROTOCOL:
        return "greenloop"
    return turn.provider or "greenloop"


def _home(turn: TurnRequest) -> str:
    return f".greenloop/agents/{turn.session}/opencode"


def _config(turn: TurnRequest, provider: str) -> JSON:
    options: JSON = {}
    if turn.base_url:
        options["baseURL"] = turn.base_url
    if turn.credential.kind == "api_key":
        options["apiKey"] = f"{{file:{{home}}/{_home(turn)}/key}}"
    # A model of one's own, or one that is newer than OpenCode's list.
    entry: JSON = {"options": options, "models": {turn.model: {"name": turn.model}}}
    if provider == "greenloop":
        entry |= {"npm": _COMPATIBLE, "name": turn.provider or "custom"}
        entry["models"][turn.model]["limit"] = _CUSTOM_LIMITS
    elif turn.base_url:
        entry["npm"] = _OWN_PROTOCOL[provider]
    model = f"{provider}/{turn.model}"
    config: JSON = {
        "$schema": "https://opencode.ai/config.json",
        "provider": {provider: entry},
        "enabled_providers": [provider],
        "model": model,
        "small_model": model,
        "plugin": [f"file://{{home}}/{_home(turn)}/plugin.js"],
        "share": "disabled",
        "autoupdate": False,
        "permission": {"edit": "deny" if turn.read_only else "allow", "bash": "allow", "webfetch": "allow"},
    }
    if turn.max_steps is not None:
        # Soft: the model is told to come to an end. The hard cap counts `step_finish`.
        config["agent"] = {"build": {"steps": turn.max_steps}}
    return config


class OpenCodeParser(LineParser):
    """Events: `step_start`, `text`, `reasoning`, `tool_use` (when done only), `step_finish` and `error`."""

    who = "OpenCode"

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
                memory.failure = _message(data["error"])
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
        output = (tokens.get("output") or 0) + (tokens.get("reasoning") or 0)
        # A cost of 0 for tokens that were used means that OpenCode knows no price.
        return usage(1, tokens=(given, read, output), cost=part.get("cost") or None)


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


def _message(error: JSON) -> str:
    data = error.get("data") or {}
    return str(data.get("message") or error.get("name") or "unknown error")
