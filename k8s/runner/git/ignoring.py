"""Which paths of an agent's checkout are to be left alone, as git itself understands `.gitignore` files.

Git is asked in a folder of ours, with copies of those files and nothing else in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from .command import Git, GitError
from .work_tree import RULES_BYTES


def lay_out(scratch: Path, rules: Mapping[bytes, bytes]) -> None:
    """Copy the rules that are small enough to be obeyed into the folder `scratch`. Raises OSError."""
    scratch.mkdir(parents=True, exist_ok=True)
    for path, content in rules.items():
        if len(content) <= RULES_BYTES:
            spot = scratch / os.fsdecode(path)
            spot.parent.mkdir(parents=True, exist_ok=True)
            spot.write_bytes(content)


def ignored(git: Git, paths: Iterable[bytes]) -> set[bytes]:
    """Those of `paths` that a rule ignores; a folder's path ends with "/"."""
    return {path for _, _, path in matching(git, list(paths))}


def matching(git: Git, paths: list[bytes], *config: str) -> list[tuple[bytes, bytes, bytes]]:
    """The paths that a rule ignores, tracked or not: (the rule's file, its pattern, the path)."""
    if not paths:
        return []
    # check-ignore takes no literal names: with `./` before them they are nothing else
    feed = b"".join(b"./" + path + b"\0" for path in paths)
    ask = ("check-ignore", "-v", "-z", "--no-index", "--stdin")
    code, out, said = git.attempt("--no-literal-pathspecs", *config, *ask, stdin=feed)
    if code not in (0, 1):
        raise GitError("check-ignore", code, said)
    fields = out.split(b"\0")
    lines = [fields[start : start + 4] for start in range(0, len(fields) - 3, 4)]
    return [(source, pattern, path[2:]) for source, _, pattern, path in lines if not pattern.startswith(b"!")]
