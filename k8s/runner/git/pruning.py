"""Checkouts and objects that a long-lived home does not need any more: old ones go, and on a full disk all but ours.

What is deleted can be had again: the next turn fetches and checks out anew. Only what a record of ours names is ever
touched, never a directory that an agent or a person has made, and never what a turn that is here works with.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import disk
from ..files import inside
from ..protocol import AssignedTurn, ProtocolError
from ..state import Held, Home, lock, remove_tree

AT_ONCE = 20
"""Most things to delete after one turn: the next turn waits for it."""

RECORD = ".path"


@dataclass(frozen=True)
class _Left:
    """Something that may go. `used_at`: Unix time of the last turn that used it, which is that of `mark`."""

    used_at: float
    path: Path
    mark: Path
    remove: Callable[[Home, Path, Path], bool]


def prune_old(home: Home, seconds: float, *, now: float | None = None) -> int:
    """Delete what no turn has used for `seconds`, oldest first and a few at once: how many."""
    limit = (time.time() if now is None else now) - seconds
    old = [left for left in _leftovers(home) if left.used_at < limit]
    return sum(left.remove(home, left.path, left.mark) for left in old[:AT_ONCE])


def make_space(home: Home, tick: Callable[[], None] = lambda: None) -> int:
    """Delete what no turn works with now, oldest first, until the disk is not nearly full any more: how many."""
    gone = 0
    for left in _leftovers(home):
        if not disk.is_low(home.path):
            break
        tick()
        gone += left.remove(home, left.path, left.mark)
    return gone


def record_of(index: Path) -> Path:
    """The record beside the index of a checkout: says where that is, and by its time when it was used last."""
    return index.with_suffix(RECORD)


def _leftovers(home: Home) -> list[_Left]:
    return sorted([*_checkouts(home), *_stores(home)], key=lambda left: left.used_at)


def _checkouts(home: Home) -> Iterator[_Left]:
    busy = {inside(home.path, turn.workdir, "workdir") for turn in _turns(home)}
    for record in (home.root / "checkouts").glob(f"*{RECORD}"):
        with contextlib.suppress(OSError, ProtocolError, UnicodeDecodeError):
            folder = inside(home.path, record.read_text(), "checkout")
            # an agent may have put a link in the way, or something else into the record
            real = folder.parent.resolve() / folder.name
            if folder not in busy and home.path in real.parents and home.root not in (real, *real.parents):
                yield _Left(record.stat().st_mtime, folder, record, _remove_checkout)


def _remove_checkout(home: Home, folder: Path, record: Path) -> bool:
    try:
        remove_tree(folder)
        record.with_suffix(".index").unlink(missing_ok=True)
        record.unlink()
    except OSError:
        return False
    for parent in folder.parents:
        if parent == home.path:
            break
        try:
            parent.rmdir()
        except OSError:
            break
    return True


def _stores(home: Home) -> Iterator[_Left]:
    busy = {str(turn.repository.id) for turn in _turns(home) if turn.repository}
    for path in (home.root / "repos").iterdir():
        with contextlib.suppress(OSError):
            if path.name.isdecimal() and path.name not in busy:
                used = path.with_name(f"{path.name}.lock")
                yield _Left(used.stat().st_mtime, path, used, _remove_store)


def _remove_store(_: Home, path: Path, held: Path) -> bool:
    try:
        descriptor = lock(held)
    except (Held, OSError):
        return False
    try:
        remove_tree(path)
        held.unlink()
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _turns(home: Home) -> Iterator[AssignedTurn]:
    for state in home.turn_states():
        turn = state.turn()
        if turn is not None:
            yield turn
