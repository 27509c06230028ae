"""An action in the words of the tools that a CLI offers."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loops.runtimes.scripted.conversation import Conversation
from loops.runtimes.scripted.replies import Action, Edit, Read, Shell, Write


@dataclass(frozen=True)
class Call:
    """A tool call: `arguments` of a function, or the `text` of a custom tool."""

    name: str
    arguments: Mapping[str, Any] | None = None
    text: str = ""


# Names and parameters as offered by Claude Code 2.1, OpenCode 1.18, Codex 0.171 and our own loop.
_READ = {"Read": "file_path", "read": "filePath", "read_file": "path"}
_WRITE = {"Write": ("file_path", "content"), "write": ("filePath", "content"), "write_file": ("path", "content")}
_EDIT = {
    "Edit": ("file_path", "old_string", "new_string"),
    "edit": ("filePath", "oldString", "newString"),
    "edit_file": ("path", "old", "new"),
}
_SHELL = {"Bash": "command", "bash": "command", "exec_command": "cmd", "shell_command": "command"}


def call(action: Action, conversation: Conversation) -> Call:
    """The tool call for `action`; by a shell where the CLI has no tool for it. Raises LookupError without any."""
    offered = conversation.tools
    match action:
        case Read(path):
            for name, place in _READ.items():
                if name in offered:
                    return Call(name, {place: path})
            return _shell(f"cat {shlex.quote(path)}", offered)
        case Write(path, content):
            for name, (place, body) in _WRITE.items():
                if name in offered:
                    return Call(name, {place: path, body: content})
            lines = "".join(f"+{line}\n" for line in content.splitlines())
            return _patch(f"*** Add File: {path}\n{lines}", offered)
        case Edit(path, old, new):
            for name, (place, before, after) in _EDIT.items():
                if name in offered:
                    return Call(name, {place: path, before: old, after: new})
            removed = "".join(f"-{line}\n" for line in old.splitlines())
            added = "".join(f"+{line}\n" for line in new.splitlines())
            return _patch(f"*** Update File: {path}\n@@\n{removed}{added}", offered)
        case Shell(command):
            return _shell(command, offered)


def _patch(body: str, offered: Mapping[str, str]) -> Call:
    patch = f"*** Begin Patch\n{body}*** End Patch\n"
    if offered.get("apply_patch") == "custom":
        return Call("apply_patch", text=patch)
    if "apply_patch" in offered:
        return Call("apply_patch", {"input": patch})
    return _shell(f"apply_patch <<'END_OF_PATCH'\n{patch}END_OF_PATCH", offered)


def _shell(command: str, offered: Mapping[str, str]) -> Call:
    for name, place in _SHELL.items():
        if name in offered:
            # our own loop's `bash` has no such parameter
            described = (
                {"description": "run a command"} if name.lower() == "bash" and "read_file" not in offered else {}
            )
            return Call(name, {place: command, **described})
    if "shell" in offered:
        return Call("shell", {"command": ["bash", "-c", command]})
    raise LookupError(f"The CLI offers no tool for this action; it offers: {', '.join(offered) or 'none'}.")
