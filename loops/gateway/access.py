"""Who is asking at the gateway: a turn that runs, with its own token. Nothing of it is remembered between requests."""

import hmac
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.accounts.credentials import credential_of
from loops.accounts.model_tokens import hash_of
from loops.gateway.upstreams import Account
from loops.runtimes import registry
from loops.runtimes.spec import ModelCalls
from loops.secrets.vault import Vault
from loops.store.states import TurnStatus
from loops.store.tables import Profile, Turn

REFUSED = "This is not the token of a turn that runs: it ends with its turn."


class NotItsToken(Exception):
    """Forged, over, or another turn's: the answer is the same."""


@dataclass(frozen=True)
class Caller:
    """The turn, and what it was given. `stopped`: why it is being ended; it asks nothing more."""

    turn: int
    public_id: str
    session: int
    model: str
    calls: ModelCalls
    profile: int
    custom: bool
    stopped: str | None


async def caller_of(tx: AsyncSession, public_id: str, token: str) -> Caller:
    """Raises NotItsToken."""
    asked = select(
        Turn.id, Turn.session_id, Turn.status, Turn.runtime, Turn.model, Turn.profile_id, Turn.model_token,
        Turn.stop_reason, Profile.base_url,
    )  # fmt: skip
    found = await tx.execute(asked.join(Profile, Profile.id == Turn.profile_id).where(Turn.public_id == public_id))
    row = found.one_or_none()
    known = row.model_token if row is not None else None
    if not hmac.compare_digest(hash_of(token), known or "") or row is None or row.status is not TurnStatus.RUNNING:
        raise NotItsToken(public_id)
    calls = registry.get(row.runtime).calls
    if calls is None:
        raise NotItsToken(public_id)
    return Caller(
        row.id, public_id, row.session_id, row.model or "", calls, row.profile_id, bool(row.base_url), row.stop_reason
    )


async def account_of(tx: AsyncSession, vault: Vault, profile: int) -> Account:
    """The account in the clear. Raises NotItsToken where it was removed meanwhile, CannotPrepare for one that no key
    opens."""
    row = await tx.get(Profile, profile, populate_existing=True)
    if row is None:
        raise NotItsToken(str(profile))
    credential = credential_of(row, vault)
    return Account(row.id, row.provider, credential.kind, row.base_url or "", credential.secret)
