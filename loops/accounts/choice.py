"""Which runtime and which account somebody's turn gets: known at the moment of asking, and again when it begins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

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


ORDER: Final = (
    "`--runtime` in the comment or in the request",
    "`runtime` in the repository's .github/greenloop.yml",
    "GREENLOOP_RUNTIME",
    "the first agent that the account runs",
)
"""What decides which agent works, the first that says anything; nothing below overrides it."""


@dataclass(frozen=True)
class Chosen:
    """The runtime of a turn, and the account it is run with (None: a program needs none, though it may use one).

    `warning`: what people should know of how it was chosen. `decided`: the line of `ORDER` that decided.
    """

    runtime: RuntimeSpec
    model: str
    decided: str
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
    """The runtime by `ORDER` (of the asker's `options`, the repository's `config`, and `default`, which may be empty),
    and the owner's first account that runs it.

    Where the turn is to begin, at `now`, an account that its provider refused gives way to the one that stands in for
    it. Raises CannotRun, and then AccountLimited.
    """
    named = zip((options.get("runtime"), config.get("runtime"), default), ORDER, strict=False)
    wanted, decided = next(((str(name), line) for name, line in named if name), ("", ORDER[-1]))
    model = str(options.get("model") or config.get("model") or "")
    try:
        name, warning = profiles.canonical(wanted) if wanted else ("", None)
        profile = await _account_for(tx, installation_id, owner_id, name)
        if profile is not None and now is not None:
            profile = await _usable(tx, profile, now, name)
        runtime = registry.get(name or _first(profile))
        if profile is not None and not profiles.can_drive(_described(profile), runtime.name):
            raise profiles.RefusedRuntimeError(_described(profile), runtime.name)
    except registry.UnknownRuntimeError as error:
        raise CannotRun(str(error)) from None
    except profiles.RefusedRuntimeError as error:
        raise CannotRun(f"{error} It was named by {decided}.") from None
    except CannotPrepare as error:
        raise CannotRun(str(error)) from None
    if not runtime.needs_account:
        return Chosen(runtime, model or (profile.model if profile else None) or "", decided, profile, warning)
    if profile is None:
        raise CannotRun(
            f'The "{runtime.name}" runtime needs a provider account, and neither you nor this installation has one. '
            "Add one with `greenloop profile add`."
        )
    return Chosen(runtime, model or profile.model or "", decided, profile, warning)


def _first(profile: Profile | None) -> str:
    """The runtime where nobody names one. Raises CannotRun."""
    if profile is None:
        raise CannotRun(
            "No agent can work here: neither you nor this installation has a provider account. "
            "Add one with `greenloop profile add`, or name a program with GREENLOOP_RUNTIME=command."
        )
    account = _described(profile)
    if (first := next(iter(profiles.runtimes_for(account)), None)) is None:
        raise profiles.RefusedRuntimeError(account, "any")
    return first


def _described(profile: Profile) -> profiles.Profile:
    return profiles.Profile(profile.provider, kind_of(profile), profile.model or "", profile.base_url or "")


async def _usable(tx: AsyncSession, profile: Profile, now: float, runtime: str) -> Profile:
    """The account, or who stands in for it. Raises AccountLimited, or CannotRun where waiting alone mends nothing."""
    if not is_limited(profile, now):
        return profile
    other = await fallback_of(tx, profile, now)
    if other is not None and (not runtime or profiles.can_drive(_described(other), runtime)):
        return other
    why = FailureKind(profile.limited_why or FailureKind.RATE_LIMIT)
    if WORDS[why].way == "later":
        raise AccountLimited(profile.limited_until or now)
    raise CannotRun("The provider refused this account a moment ago, so no agent was started.", why.value)


async def _account_for(tx: AsyncSession, installation_id: int, owner_id: int | None, runtime: str) -> Profile | None:
    """The first account that runs `runtime`, of the owner's own, then of the installation's: the default one before
    others. Where none does, the first."""
    found = await tx.execute(
        select(Profile)
        .where(Profile.installation_id == installation_id)
        .where(or_(Profile.person_id.is_(None), Profile.person_id == owner_id))
        .order_by(Profile.person_id.is_(None), Profile.is_default.desc(), Profile.id)
    )
    accounts = found.scalars().all()
    fitting = (each for each in accounts if not runtime or profiles.can_drive(_described(each), runtime))
    return next(fitting, accounts[0] if accounts else None)
