"""Workflow commands in a step's output (`::error file=a.py,line=3::text`) and in its files (`GITHUB_OUTPUT`, …)."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_COMMAND = re.compile(r"^\s*::(?P<name>[A-Za-z-]+)(?:\s+(?P<properties>.*?))?::(?P<text>.*)$")
_LEVELS = {"error": "failure", "warning": "warning", "notice": "notice"}
MAX_ANNOTATIONS = 10


@dataclass(frozen=True)
class Command:
    name: str
    properties: dict[str, str]
    text: str


def _unescape(text: str, property_value: bool = False) -> str:
    pairs = [("%0D", "\r"), ("%0A", "\n")] + ([("%3A", ":"), ("%2C", ",")] if property_value else []) + [("%25", "%")]
    for code, char in pairs:
        text = text.replace(code, char)
    return text


def read(line: str) -> Command | None:
    """The command of a line, or None."""
    found = _COMMAND.match(line)
    if found is None:
        return None
    properties = {}
    for part in (found["properties"] or "").split(","):
        key, equals, value = part.partition("=")
        if equals:
            properties[key.strip()] = _unescape(value, property_value=True)
    return Command(found["name"].lower(), properties, _unescape(found["text"]))


def read_file(text: str) -> dict[str, str]:
    """Names and values of a `GITHUB_ENV` or `GITHUB_OUTPUT` file: `name=value`, or `name<<END` … `END`."""
    found: dict[str, str] = {}
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        heredoc = re.fullmatch(r"([^=<]+)<<(.+)", line)
        if heredoc:
            value = []
            while at < len(lines) and lines[at] != heredoc[2]:
                value.append(lines[at])
                at += 1
            at += 1
            found[heredoc[1]] = "\n".join(value)
        elif "=" in line:
            key, _, value_text = line.partition("=")
            found[key] = value_text
    return found


@dataclass
class Collector:
    """Turns a step's output lines into what the log shows, gathering annotations and old-style outputs.

    `mask` is told what the log must not show; `masked` hides it in what does not go through the log.
    """

    mask: Callable[[str], None]
    masked: Callable[[str], str]

    annotations: list[dict[str, Any]] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    _stopped: str | None = None

    def shown(self, line: str) -> str | None:
        """The line for the log; None for a command that leaves no line."""
        command = read(line)
        if self._stopped is not None:
            if command is not None and command.name == self._stopped.lower():
                self._stopped = None
            return line
        if command is None:
            return line
        if command.name in _LEVELS:
            self._annotate(command)
            return f"##[{command.name}]{command.text}"
        if command.name in ("group", "endgroup", "debug"):
            return f"##[{command.name}]{command.text}"
        if command.name == "add-mask":
            self.mask(command.text)
            return None
        if command.name == "set-output":
            self.outputs[command.properties.get("name", "")] = command.text
            return None
        if command.name == "stop-commands":
            self._stopped = command.text
        return line

    def _annotate(self, command: Command) -> None:
        same = sum(1 for row in self.annotations if row["annotation_level"] == _LEVELS[command.name])
        if same >= MAX_ANNOTATIONS:
            return
        properties = command.properties
        line = _integer(properties.get("line"), 1)
        row: dict[str, Any] = {
            "path": properties.get("file", ".github").removeprefix("./"),
            "start_line": line,
            "end_line": _integer(properties.get("endLine"), line),
            "annotation_level": _LEVELS[command.name],
            "message": self.masked(command.text),
            "title": self.masked(properties.get("title", "")),
        }
        if "col" in properties:
            row["start_column"] = _integer(properties["col"], 1)
            row["end_column"] = _integer(properties.get("endColumn"), row["start_column"])
        self.annotations.append(row)


def _integer(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else default
