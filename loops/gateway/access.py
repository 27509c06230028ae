"""Who is asking at the gateway: a turn that runs, with its own token. Nothing of it is remembered between requests."""

import hmac
from dataclasses import dataclass

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.accounts.credentials import credential_of
from loops.gateway.upstreams import Account
from loops.runtimes import registry
from loops.runtimes.spec import ModelCalls
from loops.secrets.token_hash import token_hash
from loops.secrets.vault import Vault
from loops.store.states import TurnStatus
from loops.store.tables import Profile, Turn

# once, not for each request: to build it takes longer than to send it
_ASKED = (
    select(Turn.id, Turn.status, Turn.runtime, Turn.model, Turn.model_token, Turn.stop_reason, Profile)
    .join(Profile, Profile.id == Turn.profile_id)
    .where(Turn.public_id == bindparam("public_id"))
)
REFUSED = "This is not the token of a turn that runs: it ends with its turn."


class NotItsToken(Exception):
    """Forged, over, or another turn's: the answer is the same."""


@dataclass(frozen=True)
class Caller:
    """The turn, and what it was given. `stopped`: why it is being ended; it asks nothing more.

    `turn` is its row's id; 0 for a trial of an account, whose use is booked nowhere.
    """

    turn: int
    public_id: str
    model: str
    calls: ModelCalls
    profile: Profile
    stopped: str | None


async def caller_of(tx: AsyncSession, public_id: str, token: str) -> Caller:
    """Raises NotItsToken, also where the turn's account was removed."""
    row = (await tx.execute(_ASKED, {"public_id": public_id})).one_or_none()
    known = row.model_token if row is not None else None
    if not hmac.compare_digest(token_hash(token), known or "") or row is None or row.status is not TurnStatus.RUNNING:
        raise NotItsToken(public_id)
    calls = registry.get(row.runtime).calls
    if calls is None:
        raise NotItsToken(public_id)
    return Caller(row.id, public_id, row.model or "", calls, row.Profile, row.stop_reason)


def account_of(caller: Caller, vault: Vault) -> Account:
    """The account in the clear. Raises CannotPrepare for one that no key opens."""
    row, credential = caller.profile, credential_of(caller.profile, vault)
    return Account(row.id, row.provider, credential.kind, row.base_url or "", credential.secret)
