"""Takes secrets out of what is kept of a conversation: a tool may have printed one, and the conversation lasts.

Values are covered by as many asterisks, so that nothing moves.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

LARGEST = 256 * 1024 * 1024
"""Bytes of the largest file that is looked into; a larger one is deleted."""

_SQLITE = b"SQLite format 3\0"
_OTHER = (b"CREATE VIRTUAL", b"WITHOUT ROWID")
_BESIDE = ("-wal", "-shm", "-journal")


def scrub(files: Iterable[Path], values: Sequence[str]) -> int:
    """Cover `values`, the longest first, in all `files`; how many had any.

    What cannot be read or written is deleted: a lost conversation is begun anew.
    """
    wanted = [value.encode("utf-8", "surrogateescape") for value in values if value]
    if not wanted:
        return 0
    found = 0
    for path in list(files):
        if str(path).endswith(_BESIDE):
            continue
        try:
            found += _in_database(path, wanted) if _is_database(path) else _in_file(path, wanted)
        except (OSError, sqlite3.Error):
            found += 1
            for gone in (path, *(path.with_name(path.name + end) for end in _BESIDE)):
                with contextlib.suppress(OSError):
                    gone.unlink()
    return found


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _covered(content: bytes, values: Sequence[bytes]) -> bytes:
    for value in values:
        if value in content:
            content = content.replace(value, b"*" * len(value))
    return content


def _in_file(path: Path, values: Sequence[bytes]) -> int:
    if path.stat().st_size > LARGEST:
        raise OSError(f"{path} is larger than {LARGEST} bytes")
    content = path.read_bytes()
    covered = _covered(content, values)
    if covered == content:
        return 0
    with path.open("r+b") as file:
        file.write(covered)
    return 1


def _in_database(path: Path, values: Sequence[bytes]) -> int:
    """A value may be torn between two pages, and what was deleted lies on: so by SQL, and rewritten as a whole."""
    changed = 0
    with contextlib.closing(sqlite3.connect(path, timeout=5, isolation_level=None)) as database:
        database.text_factory = bytes
        listed = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        for name, made in listed:
            if name.startswith(b"sqlite_") or any(word in (made or b"").upper() for word in _OTHER):
                continue
            changed += _in_table(database, _quoted(name), values)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        content = path.read_bytes()
        if changed or any(value in content for value in values):
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return int(changed > 0)


def _in_table(database: sqlite3.Connection, table: str, values: Sequence[bytes]) -> int:
    changed = 0
    columns = [_quoted(row[1]) for row in database.execute(f"PRAGMA table_info({table})")]
    for column in columns:
        rows = database.execute(
            f"SELECT rowid, {column}, typeof({column}) FROM {table} WHERE typeof({column}) IN ('text', 'blob')"  # noqa: S608
        ).fetchall()
        for row, content, kind in rows:
            covered = _covered(content, values)
            if covered != content:
                new = covered.decode("utf-8", "replace") if kind == b"text" else covered
                database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, row))  # noqa: S608
                changed += 1
    return changed


def _quoted(name: bytes) -> str:
    return '"' + name.decode("utf-8", "replace").replace('"', '""') + '"'
