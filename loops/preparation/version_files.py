"""Files of a repository that name the version of a tool, as set-up actions read them."""

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

_OTHER_NAMES = {"node": "nodejs", "go": "golang"}
"""Tools by the names that they have in `.tool-versions` besides their own."""


def version_in(path: str, text: str, tool: str) -> str:
    """What that file says of the tool, as it is written there; empty where it says nothing or cannot be read."""
    read = _READERS.get(path.rpartition("/")[2], _first_line)
    try:
        return read(text, tool).strip()
    except (ValueError, RecursionError):
        return ""


def _first_line(text: str, tool: str) -> str:
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return next((line for line in lines if line), "")


def _go_mod(text: str, tool: str) -> str:
    """`toolchain` is what is used; without it `go`."""
    found: dict[str, str] = dict(re.findall(r"^(toolchain go|go )(\d[\w.]*)", text, re.M))
    return found.get("toolchain go") or found.get("go ", "")


def _tool_versions(text: str, tool: str) -> str:
    rows = (line.partition("#")[0].split() for line in text.splitlines())
    return next((row[1] for row in rows if len(row) > 1 and row[0] in (tool, _OTHER_NAMES.get(tool))), "")


def _package_json(text: str, tool: str) -> str:
    """What Volta holds, else what the package manager's field says, else the engines."""
    said = json.loads(text)
    name, _, version = str(_at(said, "packageManager")).partition("+")[0].partition("@")
    return _word(said, "volta", tool) or (version if name == tool else "") or _word(said, "engines", tool)


def _pyproject(text: str, tool: str) -> str:
    """Python's own way to write a range, in npm's."""
    return re.sub(r"\s*,\s*", " ", _word(tomllib.loads(text), "project", "requires-python"))


def _global_json(text: str, tool: str) -> str:
    return _word(json.loads(text), "sdk", "version")


def _at(said: Any, *names: str) -> Any:
    for name in names:
        said = said.get(name, "") if isinstance(said, dict) else ""
    return said


def _word(said: Any, *names: str) -> str:
    value = _at(said, *names)
    return value if isinstance(value, str) else ""


_READERS: dict[str, Callable[[str, str], str]] = {
    "go.mod": _go_mod,
    "go.work": _go_mod,
    ".tool-versions": _tool_versions,
    "package.json": _package_json,
    "pyproject.toml": _pyproject,
    "global.json": _global_json,
}
