"""Where the agents of a box run: behind walls put up for each turn, or in a container that is there already."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Protocol

from ..state import Home, TurnState, held, lock, remove_tree
from .agent_box import AgentBox
from .walls import Walls

ENDS_SECONDS = 5.0
"""How long a supervisor that nobody listens to any more may take to end all that it keeps."""


class AgentPlace(Protocol):
    """Makes the box of each turn, and tidies up behind those whose keeper is gone."""

    lost: bool
    """Whether no turn can run here any more."""

    def open(self, state: TurnState, argv: list[str]) -> AgentBox:
        """The box of a turn, in which the program of this command line can be found. Raises OSError."""
        ...

    def end(self, state: TurnState) -> None:
        """Have everything ended that runs there for a turn whose keeper was killed."""
        ...

    def give_up(self) -> None:
        """What was opened is gone, or does not answer."""
        ...

    def clear(self) -> None:
        """Delete what a turn left, but for the caches. Raises OSError."""
        ...

    def is_there(self) -> bool:
        """Whether a turn can run here, as far as can be told without asking."""
        ...


class LocalPlace:
    """A supervisor of its own for each turn, behind the walls that this machine allows."""

    lost = False

    def __init__(self, home: Home, walls: Walls, skeleton: Path | None) -> None:
        self._home = home
        self._walls = walls
        self._skeleton = skeleton

    def open(self, state: TurnState, argv: list[str]) -> AgentBox:
        """What runs in the box holds a lock, by which its end is seen."""
        held_by_box = lock(state.box, wait=True)
        try:
            walls = self._walls.with_program(argv)
            return AgentBox(walls.open(self._home.agent, self._home.given, self._skeleton, held_by_box))
        finally:
            os.close(held_by_box)

    def end(self, state: TurnState) -> None:
        """A supervisor that nobody listens to ends all that it keeps: wait for it. One that is stopped does not, and
        is ended with all of its box by whoever sweeps up."""
        until = time.monotonic() + ENDS_SECONDS
        while held(state.box) and time.monotonic() < until:
            time.sleep(0.01)

    def give_up(self) -> None:
        pass

    def clear(self) -> None:
        remove_tree(self._home.agent / "home")

    def is_there(self) -> bool:
        return True
