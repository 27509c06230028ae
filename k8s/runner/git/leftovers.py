"""What a turn leaves behind that is not part of its change: by-products of tools."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Mapping

from .by_products import PATTERNS
from .command import Git
from .ignoring import matching


def by_products(git: Git, fresh: Iterable[bytes]) -> dict[bytes, bytes]:
    """Those of the new paths `fresh` that a tool made by itself, where the base has nothing like them, and the pattern
    that says so."""
    matched = _matching(git, list(fresh))
    if not matched:
        return {}
    tracked = [path for path in git.run("ls-files", "-z").split(b"\0") if path]
    wanted = set(_matching(git, tracked).values())
    return {path: pattern for path, pattern in matched.items() if pattern not in wanted}


def in_words(made: Mapping[bytes, bytes]) -> list[str]:
    """The by-products for people: of many in one folder that a pattern names, or that they stand in, the folder."""
    groups: dict[bytes, list[bytes]] = {}
    for path, pattern in made.items():
        groups.setdefault(_folder(path, pattern), []).append(path)
    alone = [shown(paths[0]) for paths in groups.values() if len(paths) == 1]
    many = [f"{shown(folder) or '.'}/ ({len(paths)} files)" for folder, paths in groups.items() if len(paths) > 1]
    return [f"{each} (a by-product of a tool)" for each in sorted([*alone, *many])]


def _folder(path: bytes, pattern: bytes) -> bytes:
    """The outermost folder of `path` that `pattern` names, else the one that it stands in."""
    parts = path.split(b"/")[:-1]
    name = pattern.strip(b"/").rpartition(b"/")[2]
    named = next((count for count, part in enumerate(parts, 1) if fnmatch.fnmatchcase(part, name)), len(parts))
    return b"/".join(parts[:named])


def shown(path: bytes) -> str:
    """The path for people: what cannot be printed is escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in path.decode("utf-8", "backslashreplace"))


def _matching(git: Git, paths: list[bytes]) -> dict[bytes, bytes]:
    """The paths that one of the patterns matches, and which."""
    if not paths:
        return {}
    patterns = git.git_dir / "by-products"
    patterns.write_text(PATTERNS)
    found = matching(git, paths, "-c", f"core.excludesFile={patterns}")
    ours = os.fsencode(patterns)
    return {path: pattern for source, pattern, path in found if source == ours}
