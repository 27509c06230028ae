"""Names of branches: what Git and GitHub accept, and how ours are made. Pure.

Git's rules are those of `git check-ref-format`; GitHub adds a few of its own.
"""

import re
import unicodedata

MAX_NAME = 244  # bytes: GitHub's 255 for "refs/heads/" and the name

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]")
_HEX = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


def branch_problem(name: str) -> str | None:
    """Why `name` cannot be a branch, or None if Git and GitHub take it."""
    if not name:
        return "it is empty"
    if len(name.encode("utf-8", "replace")) > MAX_NAME:
        return f"it is longer than {MAX_NAME} bytes"
    if found := _FORBIDDEN.search(name):
        return f"it holds {found[0]!r}"
    if name in ("@", "HEAD") or name.startswith("-"):
        return "Git reads it as something else"
    if ".." in name or "@{" in name or name.endswith("."):
        return "it holds '..' or '@{', or ends in a dot"
    if any(not part or part.startswith(".") or part.endswith(".lock") for part in name.split("/")):
        return "a part between slashes is empty, starts with a dot or ends in .lock"
    if name.startswith("refs/") or _HEX.match(name):
        return "GitHub refuses names like refs/… and names that look like a commit"
    return None


def branch_name(prefix: str, number: int | None, title: str, *, suffix: str = "") -> str:
    """A readable branch for issue or pull request `number`: `greenloop/12-fix-the-login`, whatever the title holds.

    `prefix` is the configured one (with or without "/" at its end); `suffix` tells apart a second branch for one title.
    """
    plain = unicodedata.normalize("NFKD", title.casefold()).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:48].strip("-")
    parts = [str(number) if number is not None else "", words, suffix]
    tail = "-".join(part for part in parts if part) or "work"
    name = f"{prefix.strip('/')}/{tail}" if prefix.strip("/") else tail
    if problem := branch_problem(name):
        raise ValueError(f"branch prefix {prefix!r} makes no valid branch name ({name!r}): {problem}")
    return name
