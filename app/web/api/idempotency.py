"""Calls that are made once: the same key with the same body again is answered as before, and does nothing more."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from app.web.api.problems import Problem
from loops.store.access_tables import IdempotencyKey

HEADER: Final = "Idempotency-Key"
LONGEST: Final = 200


@dataclass(frozen=True)
class Once:
    """One call under `key` of `caller`; an empty key stands for every call on its own."""

    caller: str
    key: str
    digest: str

    @classmethod
    def of(cls, caller: str, key: str | None, asked: Any) -> "Once":
        """Raises Problem for a key that cannot be one."""
        if key is None:
            return cls(caller, "", "")
        if not (0 < len(key) <= LONGEST and key.isascii() and key.isprintable()):
            raise Problem(400, f"{HEADER} has to be 1 to {LONGEST} printable ASCII characters", field=HEADER)
        text = json.dumps(asked, sort_keys=True, ensure_ascii=True)
        return cls(caller, key, hashlib.sha256(text.encode()).hexdigest())

    async def before(self, tx: AsyncSession, now: float) -> dict[str, Any] | None:
        """What the same call was answered before; None where this is the first, which has to end with `done` in the
        same transaction. Raises Problem where the key was used for something else."""
        if not self.key:
            return None
        insert = postgresql.insert if tx.get_bind().dialect.name == "postgresql" else sqlite.insert
        row = {"caller": self.caller, "key": self.key, "digest": self.digest, "created_at": now}
        made = insert(IdempotencyKey).values(row).on_conflict_do_nothing().returning(IdempotencyKey.key)
        if (await tx.execute(made)).first() is not None:
            return None
        known = await tx.get_one(IdempotencyKey, (self.caller, self.key))
        if known.digest != self.digest:
            raise Problem(422, f"this {HEADER} was used for another call: take a new one", field=HEADER)
        return known.answer

    async def done(self, tx: AsyncSession, answer: dict[str, Any]) -> None:
        """Keep what the call came to."""
        if self.key:
            mine = (IdempotencyKey.caller == self.caller, IdempotencyKey.key == self.key)
            await tx.execute(update(IdempotencyKey).where(*mine).values(answer=answer))
