"""The env file that a repository's tests may ask for: made anew for each turn, gone after it, never published."""

import re
from collections.abc import Mapping

from loops.runtimes.base import BoxFile

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SPECIAL = re.compile(r'[\\"$`]')
# An apostrophe ends single quotes, and some readers take a backslash before one, or before another backslash, away.
_NOT_IN_SINGLE_QUOTES = re.compile(r"'|\\\\|\\\Z")


def env_file(workdir: str, values: Mapping[str, str], name: str = ".env") -> BoxFile:
    """`values` as `NAME="value"` a line, 0600, in the checkout `workdir` (relative to the box's home).

    Raises ValueError for a name that is none, without its value.
    """
    bad = [key for key in values if not _NAME.match(key)]
    if bad:
        raise ValueError(f"These are no names of environment variables: {', '.join(map(repr, bad))}.")
    text = "".join(f"{key}={quoted(value)}\n" for key, value in values.items())
    return BoxFile(f"{workdir.rstrip('/')}/{name}", text.encode(), 0o600, secret=True)


def quoted(value: str) -> str:
    """`value` in the quotes in which shells and dotenv libraries read the same; line ends stand as they are.

    They agree on double quotes around what is not special in them, and on single quotes around most of what is. For
    the few values that neither fits the shell's escapes are used.
    """
    if not _SPECIAL.search(value):
        return f'"{value}"'
    if not _NOT_IN_SINGLE_QUOTES.search(value):
        return f"'{value}'"
    return '"' + _SPECIAL.sub(r"\\\g<0>", value) + '"'
