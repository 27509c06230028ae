"""What a diff says about files."""

import re

_HEADER = re.compile(r'^diff --git (?:"?a/.*?"?) (?:"b/((?:[^"\\]|\\.)*)"|b/(.*))$')
_ESCAPE = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')
_NAMED = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


def changed_files(diff: str) -> list[str]:
    """The files that a git diff changes, by their new names, in its order. Content that looks like a header is none:
    headers stand at the beginning of a line, and every line of content has a sign before it.
    """
    found: list[str] = []
    for line in diff.splitlines():
        header = _HEADER.match(line)
        if header:
            quoted, plain = header.groups()
            found.append(_unquoted(quoted) if quoted is not None else _new_name(line, plain))
    return found


def _new_name(line: str, greedy: str) -> str:
    # Without a rename both names are the same, which settles where the second begins in names with " b/" in them.
    rest = line.removeprefix("diff --git ")
    half = len(rest) // 2
    if rest[:2] == "a/" and rest[half : half + 3] == " b/" and rest[2:half] == rest[half + 3 :]:
        return rest[half + 3 :]
    return greedy


def _unquoted(text: str) -> str:
    # Git quotes bytes, so a non-ASCII character comes as several escapes.
    def byte(match: re.Match[str]) -> str:
        code = match.group(1)
        return chr(_NAMED[code] if code in _NAMED else int(code, 8))

    return _ESCAPE.sub(byte, text).encode("latin-1", "replace").decode("utf-8", "replace")
