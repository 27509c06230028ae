"""Tables of who may call the API, and of what they began there."""

from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from loops.store.base import Base, Key


class PersonalToken(Base):
    """A token that acts for one person (`loops.accounts.personal_tokens`); only its hash is kept."""

    __tablename__ = "personal_tokens"
    __table_args__ = (Index("personal_tokens_person", "person_id"),)

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    person_id: Mapped[int]
    name: Mapped[str] = mapped_column(String(100))
    scopes: Mapped[list[Any]]
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)  # SHA-256
    created_at: Mapped[float]
    expires_at: Mapped[float]
    used_at: Mapped[float | None]  # to the nearest minutes
    revoked_at: Mapped[float | None]


class DeviceApproval(Base):
    """What a person answered to a device that asks to act for them; gone once the device has heard of it.

    `scopes` is None where they refused. `expires_at` is the end of the approval, `days` what its token lasts.
    """

    __tablename__ = "device_approvals"

    code_hash: Mapped[str] = mapped_column(String(64), primary_key=True)  # SHA-256 of the code that people type
    person_id: Mapped[int]
    login: Mapped[str]
    scopes: Mapped[list[Any] | None]
    days: Mapped[int]
    expires_at: Mapped[float] = mapped_column(index=True)


class IdempotencyKey(Base):
    """A call that was carried out under a key of the caller's, so that the same one again does nothing more.

    `caller` is whose key it is, `digest` the SHA-256 of what was asked, `answer` what it came to.
    """

    __tablename__ = "idempotency_keys"

    caller: Mapped[str] = mapped_column(String(64), primary_key=True)
    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    digest: Mapped[str] = mapped_column(String(64))
    answer: Mapped[dict[str, Any] | None]
    created_at: Mapped[float] = mapped_column(index=True)
