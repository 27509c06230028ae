"""Compiled pattern databases, kept on disk from one start of the command to the next.

To compile takes longer than to distil an ordinary log. A file is believed only where nobody else may write: Hyperscan
checks a database for damage, and for its own version and processor, not for malice.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import hyperscan


def compiled(expressions: Sequence[bytes], flags: Sequence[int], *, literal: bool) -> "hyperscan.Database":
    """The database of these expressions, from the cache where it is there and sound."""
    what = repr((list(expressions), list(flags), literal))
    path = _folder() / f"{hashlib.sha256(what.encode()).hexdigest()[:32]}.hs"
    with contextlib.suppress(OSError, hyperscan.HyperscanError):
        if raw := _ours(path):
            return hyperscan.loadb(raw, hyperscan.HS_MODE_BLOCK)
    database = hyperscan.Database()
    count = len(expressions)
    database.compile(
        expressions=list(expressions), flags=list(flags), ids=list(range(count)), elements=count, literal=literal
    )
    with contextlib.suppress(OSError):
        _store(path, hyperscan.dumpb(database))
    return database


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or f"{os.environ.get('HOME', '')}/.cache"
    return Path(base) / "greenloop"


def _ours(path: Path) -> bytes:
    """The bytes of a file that we own, in a folder that we own, and into which nobody else may write; else none."""
    for place in (path.parent, path):
        found = place.lstat()
        if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or stat.S_ISLNK(found.st_mode):
            return b""
    return path.read_bytes()


def _store(path: Path, raw: bytes) -> None:
    """Whole or not at all, whoever else stores the same at once."""
    import tempfile  # once on a machine: every start of the command would pay for it

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink()
        raise
