"""The table of what others are still to be told."""

from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from loops.store.base import Base, Key
from loops.store.states import SessionStatus


class Notification(Base):
    """A session came to a state, and not every hook has been told.

    Written where the session moves, in the same transaction. `session` is its public id; `hooks`: the names of those
    that are left; None: nobody has looked yet who is to be told. `due_at` None: it was given up, and `error` says why.
    """

    __tablename__ = "notifications"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(32), unique=True)
    session: Mapped[str] = mapped_column(String(32))
    status: Mapped[SessionStatus]
    at: Mapped[float]
    due_at: Mapped[float | None] = mapped_column(index=True)
    tries: Mapped[int] = mapped_column(default=0)
    hooks: Mapped[list[Any] | None]
    error: Mapped[str | None]
