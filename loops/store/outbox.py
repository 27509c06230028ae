"""Remembers, in the transaction in which a session changes, that others are to be told of it."""

import secrets

from sqlalchemy.orm import object_session

from loops.store.notification_tables import Notification
from loops.store.tables import Session


def note_state(session: Session, at: float) -> None:
    """The session, which the transaction under way stores, has come to its status. `at`: UNIX seconds."""
    tx = object_session(session)
    if tx is None or not tx.info.get("tells"):
        return
    public_id = f"msg_{secrets.token_hex(12)}"
    tx.add(
        Notification(public_id=public_id, session=session.public_id, status=session.status, at=at, due_at=at, tries=0)
    )
