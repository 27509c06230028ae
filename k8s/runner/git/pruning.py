"""Objects that a long-lived volume does not need any more: old ones go, and on a full disk all but the turn's.

What is deleted can be had again: the next turn that needs it fetches it anew.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import disk
from ..protocol import AssignedTurn
from ..state import Held, Home, lock, remove_tree

AT_ONCE = 20
"""Most things to delete after one turn: the next turn waits for it."""


@dataclass(frozen=True)
class _Left:
    """A store that may go. `used_at`: Unix time of the last turn that used it, which is that of its lock, `held`."""

    used_at: float
    path: Path
    held: Path


def prune_old(home: Home, seconds: float, *, now: float | None = None) -> int:
    """Delete what no turn has used for `seconds`, oldest first and a few at once: how many."""
    limit = (time.time() if now is None else now) - seconds
    old = [left for left in _leftovers(home) if left.used_at < limit]
    return sum(_remove(left) for left in old[:AT_ONCE])


def make_space(home: Home, tick: Callable[[], None] = lambda: None) -> int:
    """Delete what no turn works with now, oldest first, until the disk is not nearly full any more: how many."""
    gone = 0
    for left in _leftovers(home):
        if not disk.is_low(home.path):
            break
        tick()
        gone += _remove(left)
    return gone


def _leftovers(home: Home) -> list[_Left]:
    return sorted(_stores(home), key=lambda left: left.used_at)


def _stores(home: Home) -> Iterator[_Left]:
    busy = {str(turn.repository.id) for turn in _turns(home) if turn.repository}
    for path in home.repos.iterdir():
        with contextlib.suppress(OSError):
            if path.name.isdecimal() and path.name not in busy:
                used = home.locks / f"{path.name}.lock"
                yield _Left(used.stat().st_mtime, path, used)


def _remove(left: _Left) -> bool:
    try:
        descriptor = lock(left.held)
    except (Held, OSError):
        return False
    try:
        remove_tree(left.path)
        left.held.unlink()
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
