"""Tables of the service's own upkeep: what it remembers, limits met, work put aside, what jobs print when they pass."""

from typing import Any

from sqlalchemy import String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from loops.store.base import Base, Key


class ServiceState(Base):
    """What the service as a whole remembers under `key` (`loops.store.service_state`).

    `lease_*` say which process does now what goes with it, where only one may at a time.
    """

    __tablename__ = "service_state"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[dict[str, Any] | None]
    updated_at: Mapped[float]
    lease_until: Mapped[float | None]
    lease_by: Mapped[str | None]


class Quarantined(Base):
    """Something that others sent and that processes fail over; it is not tried again.

    `kind`: `delivery`, `report`, `output` or `log`; `key` tells it apart among those: a GUID, a turn's public id, the
    id of a check.
    """

    __tablename__ = "quarantine"
    __table_args__ = (UniqueConstraint("kind", "key"),)

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    key: Mapped[str] = mapped_column(String(100))
    reason: Mapped[str]
    at: Mapped[float] = mapped_column(index=True)


class Limit(Base):
    """A limit of GitHub's that some process met: nothing is sent for the installation (0: the App) until `retry_at`."""

    __tablename__ = "limits"

    installation_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    retry_at: Mapped[float]
    secondary: Mapped[bool]
    message: Mapped[str]


class PassingLog(Base):
    """What a job of a workflow prints while it passes, as templates; `job_id` is the newest job that they are of."""

    __tablename__ = "passing_logs"

    repository_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    workflow_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(300), primary_key=True)
    job_id: Mapped[int]
    templates: Mapped[bytes]
    fetched_at: Mapped[float]
