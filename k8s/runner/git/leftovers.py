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
FILTERS = ("filter", "working-tree-encoding")
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


def filtered(git: Git, paths: list[bytes]) -> dict[bytes, str]:
    """The paths whose content Git changes on its way into a commit, by a filter that does not run here, and which."""
    answer = git.run("check-attr", "-z", "--stdin", *FILTERS, stdin=b"".join(path + b"\0" for path in paths))
    fields = answer.split(b"\0")
    found = {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        if value not in (b"unspecified", b"unset", b"set"):
            found[path] = f"{name.decode()}={value.decode('utf-8', 'replace')}"
    return found


def special(path: Path) -> str:
    """What stands at `path` if Git can hold no such thing; "" for files, links and folders."""
    try:
        return KINDS.get(stat.S_IFMT(path.lstat().st_mode), "")
    except OSError:
        return ""


def special_files(worktree: Path) -> list[str]:
    """FIFOs, sockets and devices in the working tree, which git passes over without a word."""
    found, seen = [], 0
    for folder, folders, names in os.walk(worktree):
        folders[:] = [name for name in folders if name not in (".git", "node_modules", ".venv", "target")]
        for name in names:
            seen += 1
            if kind := special(Path(folder, name)):
                found.append(f"{Path(folder, name).relative_to(worktree)} ({kind})")
        if seen > WALKED:
            break
    return found


def _matching(git: Git, paths: list[bytes]) -> dict[bytes, bytes]:
    """The paths that one of the patterns matches, and which."""
    if not paths:
        return {}
    patterns = git.git_dir / "by-products"
    patterns.write_text(BY_PRODUCTS)
    # check-ignore takes no literal names: with `./` before them they are nothing else
    feed = b"".join(b"./" + path + b"\0" for path in paths)
    ask = ("check-ignore", "-v", "-z", "--no-index", "--stdin")
    code, out, said = git.attempt("--no-literal-pathspecs", "-c", f"core.excludesFile={patterns}", *ask, stdin=feed)
    if code not in (0, 1):
        raise GitError("check-ignore", code, said)
    fields = out.split(b"\0")
    ours = os.fsencode(patterns)
    lines = zip(fields[::4], fields[2::4], fields[3::4], strict=False)
    return {path.removeprefix(b"./"): pattern for source, pattern, path in lines if source == ours}
