"""Tables of what turns leave beside their rows."""

from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from loops.store.base import Base


class UnfinishedWork(Base):
    """What a turn had changed when it was cut short: a patch against the commit that it began from.

    The newest of a turn that was tried more than once; compressed with zlib, of `size` bytes without. `why` it was cut
    short, in words; `files` are those in the patch, `left_out` others with their reasons, in words.
    """

    __tablename__ = "unfinished_work"

    turn_id: Mapped[int] = mapped_column(ForeignKey("turns.id"), primary_key=True, autoincrement=False)
    why: Mapped[str]
    patch: Mapped[bytes]
    size: Mapped[int]
    files: Mapped[list[Any]]
    left_out: Mapped[list[Any]]
    at: Mapped[float]


class WorkSoFar(Base):
    """What a running turn had changed when its box last told: here until the turn is reported, or its work is kept.

    `patch` is as that of `UnfinishedWork`, and no guard has looked at it; `changes` are the files that it is about, as
    the box tells them, `left_out` those that it cannot hold, in words.
    """

    __tablename__ = "work_so_far"

    turn_id: Mapped[int] = mapped_column(ForeignKey("turns.id"), primary_key=True, autoincrement=False)
    patch: Mapped[bytes]
    size: Mapped[int]
    changes: Mapped[list[Any]]
    left_out: Mapped[list[Any]]
    at: Mapped[float]
