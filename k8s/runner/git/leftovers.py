"""What a turn leaves behind that is not part of its change: by-products of tools, and files that Git cannot hold."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from .by_products import PATTERNS
from .command import Git, GitError

KINDS = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFBLK: "a device", stat.S_IFCHR: "a device"}
WALKED = 50_000  # entries of the working tree that are looked at for files that git does not list


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


def special(path: Path) -> str:
    """What stands at `path` if Git can hold no such thing; "" for files, links and folders."""
    try:
        return KINDS.get(stat.S_IFMT(path.lstat().st_mode), "")
    except OSError:
        return ""


def special_files(git: Git) -> list[str]:
    """FIFOs, sockets and devices in the working tree, which git passes over without a word; not those it ignores."""
    worktree = git.work_tree
    assert worktree is not None  # noqa: S101 - the caller's mistake, not data
    kinds: dict[bytes, str] = {}
    seen = 0
    for folder, folders, names in os.walk(worktree):
        folders[:] = [name for name in folders if name not in (".git", "node_modules", ".venv", "target")]
        for name in names:
            seen += 1
            if kind := special(Path(folder, name)):
                kinds[os.fsencode(Path(folder, name).relative_to(worktree))] = kind
        if seen > WALKED:
            break
    ignored = {path for _, _, path in _check_ignore(git, list(kinds))}
    return [f"{shown(path)} ({kind})" for path, kind in kinds.items() if path not in ignored]


def shown(path: bytes) -> str:
    """The path for people: what cannot be printed is escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in path.decode("utf-8", "backslashreplace"))


def _matching(git: Git, paths: list[bytes]) -> dict[bytes, bytes]:
    """The paths that one of the patterns matches, and which."""
    if not paths:
        return {}
    patterns = git.git_dir / "by-products"
    patterns.write_text(PATTERNS)
    found = _check_ignore(git, paths, "-c", f"core.excludesFile={patterns}")
    ours = os.fsencode(patterns)
    return {path: pattern for source, pattern, path in found if source == ours}


def _check_ignore(git: Git, paths: list[bytes], *config: str) -> list[tuple[bytes, bytes, bytes]]:
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
