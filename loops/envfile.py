"""The env file that a repository's tests may ask for: made anew for each turn, gone after it, never published."""

import re
from collections.abc import Mapping

from loops.runtimes.base import BoxFile

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "$": r"\$", "`": r"\`"})


def env_file(workdir: str, values: Mapping[str, str], name: str = ".env") -> BoxFile:
    """`values` as `NAME="value"` a line, 0600, in the checkout `workdir` (relative to the box's home).

    In the quotes `\\ " $ backquote` and line ends are escaped with a backslash, as shells and dotenv libraries read it.
    Raises ValueError for a name that is none, without its value.
    """
    bad = [key for key in values if not _NAME.match(key)]
    if bad:
        raise ValueError(f"These are no names of environment variables: {', '.join(map(repr, bad))}.")
    text = "".join(f'{key}="{escaped(value)}"\n' for key, value in values.items())
    return BoxFile(f"{workdir.rstrip('/')}/{name}", text.encode(), 0o600, secret=True)


def escaped(value: str) -> str:
    """`value` as it stands between the quotes."""
    return value.translate(_ESCAPES)
