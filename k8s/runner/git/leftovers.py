"""What a turn leaves behind that is not part of its change: by-products of tools, and files that Git cannot hold.

The patterns are taken from the `.gitignore` templates that GitHub maintains (github/gitignore, CC0), and only those
that name nothing that people write by hand.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .command import Git, GitError

BY_PRODUCTS = """\
# Python
__pycache__/
*.py[cod]
.pytest_cache/
.mypy_cache/
.ruff_cache/
.hypothesis/
.tox/
.nox/
.venv/
venv/
*.egg-info/
.eggs/
.coverage
.coverage.*
htmlcov/
.ipynb_checkpoints/
# Node
node_modules/
.nyc_output/
.eslintcache
.stylelintcache
*.tsbuildinfo
.parcel-cache/
npm-debug.log*
yarn-debug.log*
yarn-error.log*
# Rust, Maven, Gradle, C
target/
.gradle/
*.class
*.o
CMakeFiles/
CMakeCache.txt
# Ruby, PHP, Go, coverage tools
.bundle/
.phpunit.result.cache
*.test.exe
lcov.info
# editors, systems, agents
.DS_Store
Thumbs.db
*.swp
*.swo
*~
.aider.chat.history.md
.aider.input.history
.aider.tags.cache.v*/
"""
KINDS = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFBLK: "a device", stat.S_IFCHR: "a device"}
WALKED = 50_000  # entries of the working tree that are looked at for files that git does not list


def by_products(git: Git, fresh: list[bytes]) -> set[bytes]:
    """Those of the new paths `fresh` that a tool made by itself, where the base has nothing like them."""
    matched = _matching(git, fresh)
    if not matched:
        return set()
    tracked = [path for path in git.run("ls-files", "-z").split(b"\0") if path]
    wanted = set(_matching(git, tracked).values())
    return {path for path, pattern in matched.items() if pattern not in wanted}


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
    patterns.write_text(BY_PRODUCTS)
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
