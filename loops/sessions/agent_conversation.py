"""The conversation of an agent's own that a session's next turn goes on with, if it is of the same person.

`Session.resume` keeps one for each runtime. It is of whose turn it was, and lies in that person's box: a turn of
somebody else begins another one, and is told in the prompt what went before.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from loops.store.tables import Session, Turn


def conversation_of(session: Session, turn: Turn, runtime: str) -> Mapping[str, Any] | None:
    """What the turn goes on with: `id`, `cwd` and `totals` as they were kept; None: it begins a conversation."""
    kept: Mapping[str, Any] | None = session.resume.get(runtime)
    return kept if kept is not None and "owner" in kept and kept["owner"] == turn.owner_id else None


def known_turns(session: Session, turn: Turn, runtime: str, before: Sequence[Turn]) -> list[Turn]:
    """Those of the turns `before` that the conversation of `turn` holds."""
    if conversation_of(session, turn, runtime) is None:
        return []
    return [each for each in before if each.runtime == runtime and each.owner_id == turn.owner_id]


def keep(session: Session, turn: Turn, conversation: str, *, cwd: str, totals: Mapping[str, Any]) -> None:
    """Keep the CLI's own id of the conversation in which `turn` ran, in place of the one before."""
    kept = {"id": conversation, "cwd": cwd, "totals": dict(totals), "owner": turn.owner_id}
    session.resume = {**session.resume, turn.runtime or "": kept}


def forget(session: Session, runtime: str) -> None:
    """The next turn of `runtime` begins a conversation."""
    session.resume = {name: kept for name, kept in session.resume.items() if name != runtime}
