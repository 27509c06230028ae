"""The secrets that a box was handed with a turn, kept encrypted with it: to be found in what the turn prints.

Kept apart from the accounts they came from, so that an account that is changed or removed in the meantime still has its
old secret looked for.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.secrets.vault import Vault
from loops.store.tables import Turn


@dataclass(frozen=True)
class TurnSecrets:
    """`values` are all secrets that the box has, fetch tokens too; `tokens` the fetch tokens that are not revoked yet;
    `held` are secrets that are used for the turn and that its box is not told.
    """

    values: tuple[str, ...] = field(default=(), repr=False)
    tokens: tuple[str, ...] = field(default=(), repr=False)
    held: tuple[str, ...] = field(default=(), repr=False)

    def more(self, values: Iterable[str] = (), token: str | None = None, held: Iterable[str] = ()) -> "TurnSecrets":
        """With these too, each once."""
        tokens = (token,) if token is not None else ()
        return TurnSecrets(_once(self.values, values, tokens), _once(self.tokens, tokens), _once(self.held, held))

    def without(self, token: str) -> "TurnSecrets":
        """The token is revoked; it still is nothing to show."""
        return TurnSecrets(self.values, tuple(each for each in self.tokens if each != token), self.held)


def read(vault: Vault, turn: Turn) -> TurnSecrets:
    """What `turn` was handed. Raises VaultError when no key opens it."""
    if turn.given is None:
        return TurnSecrets()
    stored = json.loads(vault.decrypt(turn.given))
    # a process of the former release holds nothing back
    return TurnSecrets(tuple(stored["values"]), tuple(stored["tokens"]), tuple(stored.get("held", ())))


async def write(tx: AsyncSession, vault: Vault, turn: Turn, given: TurnSecrets) -> None:
    """Keep `given` with the turn."""
    token = vault.encrypt(json.dumps({"values": given.values, "tokens": given.tokens, "held": given.held}))
    await tx.execute(update(Turn).where(Turn.id == turn.id).values(given=token))


def _once(*groups: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for group in groups for each in group))
