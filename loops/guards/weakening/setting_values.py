"""Reads settings off a file of any common form (TOML, INI, YAML, JSON, XML, JavaScript, Make). Pure.

Not a parser: a name gets the words that stand behind it until the next name, over several lines if need be. Two
readings of the same file, before and after, are compared, and what is read wrong is read wrong in both.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from loops.guards.recognisers import LINE
from loops.guards.weakening.setting_keys import SECTIONED

Values = dict[str, list[str]]

_SECTION = re.compile(r"^\[\[?([^\]]+)\]\]?\s*$")
_NAME = re.compile(
    r"(?<![\w$.\"'/*-])(?:(?:\"(?P<d>[^\"\s]{1,80})\"|'(?P<s>[^'\s]{1,80})')\s*(?:=(?!=|>)|:)"
    r"|(?P<p>[A-Za-z_$*@][\w.$/@*\[\]-]*)\s*(?:[:?+]?=(?!=|>)|:(?=\s|$|[\[{\"'])))\s*"
)
_SPOKEN = re.compile(r"^(\w+)[ (]+(\d+(?:\.\d+)?)\)?$")
_TAG = re.compile(r"<(\w[\w.]*)(\s[^<>]*)?>([^<>]*)</\1>|<(\w[\w.]*)(\s[^<>]*?)/?>")
_ATTRIBUTE = re.compile(r"([\w:.]+)\s*=\s*\"([^\"]*)\"")
_CALL = re.compile(r"\b(\w+)\s*\(?\s*((?:['\"][^'\"]*['\"]\s*,?\s*)+)\)?")
_WORD = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|`([^`]*)`|([^\s,\[\]{}()\"'`;]+)")
_COMMENT = re.compile(r"^(?:#|//|;|<!--|\*|/\*|--)")


def read(path: str, text: str) -> Values:
    """Each setting's words, in order; `section:name` where the file has sections for several tools."""
    if (
        path.endswith(
            (".xml", ".csproj", ".fsproj", ".vbproj", ".props", ".targets", ".ruleset", ".runsettings", ".dist")
        )
        and "<" in text
    ):
        return _xml(text)
    found: Values = defaultdict(list)
    sectioned = bool(SECTIONED.search(path))
    section, open_name, open_indent, depth = "", "", -1, 0
    listed = path.endswith((".cfg", ".ini", ".flake8", ".coveragerc", "pylintrc", ".bandit"))
    make = bool(re.search(r"(?i)(?:makefile|justfile|\.mk)$", path))
    for raw in text.split("\n"):
        line = raw.strip()[:LINE]
        if not line or _COMMENT.match(line):
            continue
        if (
            (head := _SECTION.match(line))
            and not line.startswith('["')
            and path.endswith(
                (
                    ".toml",
                    ".cfg",
                    ".ini",
                    ".flake8",
                    ".coveragerc",
                    "pylintrc",
                    ".editorconfig",
                    ".globalconfig",
                    ".bandit",
                )
            )
        ):
            section, open_name = head[1].strip(" \"'"), ""
            continue
        indent = len(raw) - len(raw.lstrip())
        names = list(_names(line, path))
        if not names or names[0].start() > 2:
            rest = line[: names[0].start()] if names else line
            if open_name and (indent >= open_indent or rest[:1] in ")]}"):
                found[open_name] += _words(rest)
                if depth:
                    depth += _opened(rest)
                    open_name = open_name if depth > 0 else ""
        for at, match in enumerate(names):
            end = names[at + 1].start() if at + 1 < len(names) else len(line)
            called = match["d"] or match["s"] or match["p"]
            name = f"{section}:{called}" if sectioned or section else called
            found[name] += _words(line[match.end() : end])
            if at == len(names) - 1:
                value = line[match.end() : end].strip()
                depth = max(_opened(value), 0)
                goes_on = not value or depth or value.endswith(("\\", "|", ">")) or listed
                open_name, open_indent = name if goes_on and not make else "", indent + (listed and bool(value))
        if "eslint" in path:
            found["extends"] += re.findall(r"[\w.]*\bconfigs\.[\w.-]+(?:\[[^\]]{1,60}\])?", line)
        for call in _CALL.finditer(line):
            found[call[1]] += _words(call[2])
        if number := _SPOKEN.match(line):
            found[number[1]].append(number[2])
    return dict(found)


def _names(line: str, path: str) -> Iterator[re.Match[str]]:
    quotes = 0
    for match in _NAME.finditer(line):
        before = line[quotes : match.start()]
        # a name inside of a quoted value is none
        if len(re.findall(r"(?<!\\)\"", line[: match.start()])) % 2 or before.count("'") % 2:
            continue
        yield match


def _opened(text: str) -> int:
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def _words(text: str) -> list[str]:
    text = re.split(r"\s#\s|\s//\s", text, maxsplit=1)[0]
    found = (next(group for group in match.groups() if group is not None) for match in _WORD.finditer(text))
    return [
        word
        for word in (each.strip() for each in found)
        if word and word not in ("-", ":", "=>", "|", ">", "=", "\\", "+")
    ]


def _xml(text: str) -> Values:
    found: Values = defaultdict(list)
    shown = "".join(part.partition("-->")[2] if at else part for at, part in enumerate(text.split("<!--")))
    for match in _TAG.finditer(shown):
        name, value = match[1] or match[4], (match[3] or "").strip()
        if value:
            found[name] += [word for word in re.split(r"[;,\s]+", value) if word]
        for attribute, said in _ATTRIBUTE.findall(match[2] or match[5] or ""):
            found[attribute].append(said)
            if attribute in ("name", "ref", "files", "checks", "class", "id", "Id", "type", "file"):
                found[name].append(said)
    return dict(found)
