"""`concurrency` groups: one at work and one in line, which the next comer pushes out."""

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from github.workflows.expressions import Scope, as_text, truth


@dataclass(eq=False)
class Ticket:
    """A run or job in a group. `cancel` ends it."""

    cancel: Callable[[], object]
    turn: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class _Group:
    running: Ticket
    pending: Ticket | None = None


class Groups:
    """All groups by repository and name."""

    def __init__(self) -> None:
        self._groups: dict[Hashable, _Group] = {}

    def enter(self, name: Hashable, ticket: Ticket, cancels: bool) -> None:
        """Get in line; `ticket.turn` is set when it is its turn. `cancels`: what runs is cancelled for it."""
        group = self._groups.get(name)
        if group is None:
            self._groups[name] = _Group(ticket)
            ticket.turn.set()
            return
        if group.pending is not None:
            group.pending.cancel()
        group.pending = ticket
        if cancels:
            group.running.cancel()

    def leave(self, name: Hashable, ticket: Ticket) -> None:
        """It is over, or was cancelled in line."""
        group = self._groups.get(name)
        if group is None:
            return
        if group.pending is ticket:
            group.pending = None
        elif group.running is ticket and group.pending is not None:
            group.running, group.pending = group.pending, None
            group.running.turn.set()
        elif group.running is ticket:
            del self._groups[name]


def asked(raw: Any, scope: Scope) -> tuple[str, bool] | None:
    """The group's name and whether it cancels what runs; None without a group. Raises `BadExpression`."""
    if raw is None:
        return None
    wanted = raw if isinstance(raw, dict) else {"group": raw}
    name = as_text(scope.value(wanted.get("group")))
    cancels = scope.value(wanted.get("cancel-in-progress"))
    return (name.lower(), truth(cancels) and cancels != "false") if name else None
