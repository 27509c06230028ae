"""Which runtime and which account somebody's turn gets: known at the moment of asking, and again when it begins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.accounts.box_secrets import CannotPrepare
from loops.accounts.credentials import kind_of
from loops.accounts.limited import fallback_of, is_limited
from loops.runtimes import profiles, registry
from loops.runtimes.failures import WORDS, FailureKind
from loops.runtimes.spec import RuntimeSpec
from loops.store.tables import Profile


class AccountLimited(Exception):
    """The turn's account is left alone `until` then, since its provider limits it; the message says so."""

    def __init__(self, until: float) -> None:
        super().__init__("The model's provider limits how fast the account may go")
        self.until = until


class CannotRun(Exception):
    """The turn cannot run as it was asked for; the message is for the person who asked."""

    def __init__(self, message: str, reason: str = "credentials") -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Chosen:
    """The runtime of a turn, and the account it is run with (None: a program needs none, though it may use one).

    `warning`: what people should know of how it was chosen.
    """

    runtime: RuntimeSpec
    model: str
    profile: Profile | None = None
    warning: str | None = None


async def choose(
    tx: AsyncSession,
    installation_id: int,
    owner_id: int | None,
    *,
    options: Mapping[str, Any],
    config: Mapping[str, Any],
    default: str,
    now: float | None = None,
) -> Chosen:
    """The runtime asked for (`options`), else the repository's (`config`), else the first of the account.

    Without an account, `default` in place of the last. Where the turn is to begin, at `now`, an account that its
    provider refused gives way to the one that stands in for it. Raises CannotRun, and then AccountLimited.
    """
    requested, configured = options.get("runtime"), config.get("runtime")
    model = str(options.get("model") or config.get("model") or "")
    profile = await profile_of(tx, installation_id, owner_id)
    if profile is not None and now is not None:
        profile = await _usable(tx, profile, now)
    try:
        if profile is None:
            choice = profiles.Choice(*profiles.canonical(str(requested or configured or default)))
        else:
            account = profiles.Profile(profile.provider, kind_of(profile), profile.model or "", profile.base_url or "")
            choice = profiles.resolve(account, requested=requested, configured=configured)
        runtime = registry.get(choice.runtime)
    except (registry.UnknownRuntimeError, profiles.RefusedRuntimeError, CannotPrepare) as error:
        raise CannotRun(str(error)) from None
    if not runtime.needs_account:
        return Chosen(runtime, model or (profile.model if profile else None) or "", profile, choice.warning)
    if profile is None:
        raise CannotRun(
            f'The "{runtime.name}" runtime needs a provider account, and neither you nor this installation has one. '
            "Add one with `greenloop profile add`."
        )
    return Chosen(runtime, model or profile.model or "", profile, choice.warning)


async def _usable(tx: AsyncSession, profile: Profile, now: float) -> Profile:
    """The account, or who stands in for it. Raises AccountLimited, or CannotRun where waiting alone mends nothing."""
    if not is_limited(profile, now):
        return profile
    if (other := await fallback_of(tx, profile, now)) is not None:
        return other
    why = FailureKind(profile.limited_why or FailureKind.RATE_LIMIT)
    if WORDS[why].way == "later":
        raise AccountLimited(profile.limited_until or now)
    raise CannotRun("The provider refused this account a moment ago, so no agent was started.", why.value)


async def profile_of(tx: AsyncSession, installation_id: int, owner_id: int | None) -> Profile | None:
    """The owner's own default account, else the installation's."""
    found = await tx.execute(
        select(Profile)
        .where(Profile.installation_id == installation_id)
        .where(or_(Profile.person_id.is_(None), Profile.person_id == owner_id))
        .order_by(Profile.person_id.is_(None), Profile.is_default.desc(), Profile.id)
        .limit(1)
    )
    return found.scalar_one_or_none()
