"""An action in the words of the tools that a CLI offers."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loops.runtimes import registry
from loops.runtimes.scripted.conversation import Conversation, Tool
from loops.runtimes.scripted.replies import Action, Edit, Raw, Read, Shell, Use, Write
from loops.runtimes.spec import Tools


@dataclass(frozen=True)
class Call:
    """A tool call: `arguments` of a function, or the `text` of a custom tool. The text of a `raw` one is what a
    function gets for arguments.
    """

    name: str
    arguments: Mapping[str, Any] | None = None
    text: str = ""
    raw: bool = False

    @property
    def custom(self) -> bool:
        """Whether it is one of a custom tool."""
        return self.arguments is None and not self.raw

    @property
    def json(self) -> str:
        """A function's arguments as they are streamed."""
        return self.text if self.arguments is None else json.dumps(self.arguments)


def call(action: Action, conversation: Conversation) -> Call:
    """The tool call for `action`; by a shell where the CLI has no tool for it. Raises LookupError without any."""
    offered = conversation.tools
    if isinstance(action, Raw):
        return Call(action.tool, text=action.arguments, raw=True)
    if isinstance(action, Use):
        if action.tool not in offered:
            raise LookupError(f"The CLI offers no tool {action.tool!r}; it offers: {', '.join(offered) or 'none'}.")
        return Call(action.tool, action.arguments)
    for tools in (tools for runtime in registry.agents() if runtime.smoke for tools in runtime.smoke.tools):
        if found := _with(tools, action, offered):
            return found
    match action:
        case Read(path):
            return call(Shell(f"cat {shlex.quote(path)}"), conversation)
        case Write(path, content):
            lines = "".join(f"+{line}\n" for line in content.splitlines())
            return _patch(f"*** Add File: {path}\n{lines}", conversation)
        case Edit(path, old, new):
            removed = "".join(f"-{line}\n" for line in old.splitlines())
            added = "".join(f"+{line}\n" for line in new.splitlines())
            return _patch(f"*** Update File: {path}\n@@\n{removed}{added}", conversation)
    raise LookupError(f"The CLI offers no tool for this action; it offers: {', '.join(offered) or 'none'}.")


def _with(tools: Tools, action: Read | Write | Edit | Shell, offered: Mapping[str, Tool]) -> Call | None:
    """The action with one CLI's tools, where it is that CLI's tools that are offered."""
    words: tuple[str, ...] | None
    values: tuple[str, ...]
    match action:
        case Read(path):
            words, values = tools.read, (path,)
        case Write(path, content):
            words, values = tools.write, (path, content)
        case Edit(path, old, new):
            words, values = tools.edit, (path, old, new)
        case Shell(command):
            words, values = tools.run, (command,)
    if words is None:
        return None
    name, *places = words
    also = tools.also.get(name, {})
    given: dict[str, Any] = dict(zip(places, values, strict=True))
    if isinstance(action, Edit) and tools.edits is not None:
        path, *change = places
        given = {path: given[path], tools.edits: [{each: given[each] for each in change}]}
    if name not in offered or not offered[name].parameters >= {*given, *also}:
        return None
    return Call(name, {**given, **also})


def _patch(body: str, conversation: Conversation) -> Call:
    patch = f"*** Begin Patch\n{body}*** End Patch\n"
    tool = conversation.tools.get("apply_patch")
    if tool is None:
        return call(Shell(f"apply_patch <<'END_OF_PATCH'\n{patch}END_OF_PATCH"), conversation)
    return Call(tool.name, text=patch) if tool.custom else Call(tool.name, {"input": patch})
