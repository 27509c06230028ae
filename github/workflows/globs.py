"""Filter patterns of workflow triggers: `*` stays inside a segment, `**` does not, `!` takes back."""

import re


def _regex(pattern: str) -> re.Pattern[str]:
    out, at = "", 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
            continue
        if pattern.startswith("**", at):
            out, at = out + ".*", at + 2
            continue
        char = pattern[at]
        if char == "[" and (end := pattern.find("]", at)) > 0:
            out, at = out + pattern[at : end + 1], end + 1
            continue
        if char == "\\" and at + 1 < len(pattern):
            out, at = out + re.escape(pattern[at + 1]), at + 2
            continue
        out += "[^/]*" if char == "*" else char if char in "?+" else re.escape(char)
        at += 1
    return re.compile(out)


def matches(patterns: list[str], name: str) -> bool:
    """Whether the last pattern that fits `name` is not a `!` one."""
    hit = False
    for pattern in patterns:
        negative = pattern.startswith("!")
        if _regex(pattern.removeprefix("!")).fullmatch(name):
            hit = not negative
    return hit


def any_path(patterns: list[str], paths: list[str]) -> bool:
    """Whether some path is selected: `paths:`."""
    return any(matches(patterns, path) for path in paths)


def all_ignored(patterns: list[str], paths: list[str]) -> bool:
    """Whether every path is selected: `paths-ignore:`."""
    return bool(paths) and all(matches(patterns, path) for path in paths)
