"""The check of a turn, run in its box: before the agent begins, and on just the files that it would publish.

The second run has a box of its own: a fresh home, the commit, the changed files laid over it, and a program and plan
that the agent never saw. Nothing that the agent left is in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from . import files, protocol
from .files import Places
from .processes import box_run
from .processes.agent_box import AgentBox
from .protocol import AssignedTurn, Change
from .verification import FAILED, NOT_RUN, OUTPUT_BYTES, PASSED, SET_UP_FAILED, TIMEOUT, Overlay, Trial, Verification

FOLDER = f"{files.OURS}/bin"
NAME = "greenloop-check"
LAY_SECONDS = 120.0
_PROGRAM = Path(__file__).with_name("check_program.py")

Tick = Callable[[], None]


def to_put(places: Places, wanted: Verification, content_of: Callable[[str], bytes]) -> list[dict[str, Any]]:
    """The program, its plan, and what is laid over the commit, as files for a supervisor to write."""
    plan = {"checkout": str(places.workdir), **asdict(replace(wanted, overlay=[]))}
    plan["overlay"] = [asdict(each) for each in wanted.overlay]
    found = [_file(NAME, _PROGRAM.read_bytes(), 0o700), _file("plan.json", json.dumps(plan).encode(), 0o600)]
    for index, each in enumerate(wanted.overlay):
        if each.sha is not None:
            found.append(_file(f"overlay/{index}", content_of(each.sha), 0o600))
    return found


def _file(name: str, content: bytes, mode: int) -> dict[str, Any]:
    return {"path": f"{FOLDER}/{name}", "content": protocol.encode(content), "mode": mode}


def with_program(places: Places, turn: AssignedTurn, env: dict[str, str]) -> dict[str, str]:
    """The agent's environment, in which it finds the program by its name."""
    if turn.verification is None:
        return env
    return {**env, "PATH": f"{places.home / FOLDER}:{env['PATH']}"}


def overlay_of(changes: list[Change]) -> list[Overlay]:
    """Changes as they are laid over the commit that they are of: what is gone first, since something else may stand in
    its place."""
    stands = {change.path for change in changes if change.sha is not None}
    gone = [change.path for change in changes if change.sha is None]
    gone += [change.old_path for change in changes if change.old_path]
    left = [Overlay(path) for path in dict.fromkeys(gone) if path not in stands]
    return left + [Overlay(change.path, change.mode, change.lfs or change.sha) for change in changes if change.sha]


class BoxTrials:
    """Runs the check of one turn in a box that was prepared with `to_put`. `tick` may raise to give up."""

    def __init__(self, places: Places, turn: AssignedTurn, wanted: Verification, tick: Tick) -> None:
        self._places, self._marker, self._wanted, self._tick = places, turn.marker, wanted, tick
        # what runs here is the repository's, not the agent's: it gets nothing of what the agent was given
        self._env = files.environment(places, replace(turn, env={}), os.environ)

    def lay(self, box: AgentBox) -> None:
        """Put files of the commit and of the overlay in place. Raises `BoxLost`, OSError."""
        self._run(box, "--lay", LAY_SECONDS)

    def set_up(self, box: AgentBox) -> Trial | None:
        """Make the box ready; how that failed, or None. Raises `BoxLost`, OSError."""
        if not self._wanted.setup:
            return None
        ran = self._run(box, "--set-up", self._wanted.setup_seconds)
        return None if ran.exit_code == 0 else _trial(SET_UP_FAILED, ran)

    def check(self, box: AgentBox) -> Trial:
        """Run the check. Raises `BoxLost`, OSError."""
        ran = self._run(box, "--whole", self._wanted.seconds)
        return _trial(TIMEOUT if ran.exit_code is None else FAILED if ran.exit_code else PASSED, ran)

    def before(self, box: AgentBox) -> Trial:
        """Before the agent: what it will find is the commit (and the overlay), whatever set-up and check wrote over."""
        if self._wanted.overlay:
            self.lay(box)
        trial = self.set_up(box)
        if trial is None and self._wanted.reproduce:
            trial = self.check(box)
        self.lay(box)
        return trial or Trial(NOT_RUN)

    def after(self, box: AgentBox) -> Trial:
        """In a fresh box, on what would be published."""
        self.lay(box)
        return self.set_up(box) or self.check(box)

    def _run(self, box: AgentBox, option: str, seconds: float) -> box_run.Ran:
        argv = ["python3", "-I", str(self._places.home / FOLDER / NAME), option]
        return box_run.run(
            box, argv, self._env, self._places.workdir, self._marker,
            seconds=seconds, limit=OUTPUT_BYTES, tick=self._tick,
        )  # fmt: skip


def _trial(how: str, ran: box_run.Ran) -> Trial:
    return Trial(how, ran.exit_code, ran.output.decode("utf-8", "replace"), round(ran.seconds, 3))
