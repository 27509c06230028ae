"""Accounts that their provider refused: left alone until a time, with another of their owner in their place."""

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.runtimes.failures import WORDS, FailureKind
from loops.store.tables import Profile


def limit(profile: Profile, why: FailureKind, until: float) -> None:
    """No turn uses the account before `until`; its owner sees why."""
    profile.limited_until, profile.limited_why = until, why.value


def lift(profile: Profile) -> None:
    """Its provider has answered: what its owner had to mend is mended. A rate limit says when it is over by itself."""
    why = FailureKind(profile.limited_why) if profile.limited_why else None
    if why is not None and WORDS[why].way != "later":
        profile.limited_until = profile.limited_why = None


def is_limited(profile: Profile, now: float) -> bool:
    """Whether it is left alone."""
    return profile.limited_until is not None and profile.limited_until > now


async def fallback_of(tx: AsyncSession, profile: Profile, now: float) -> Profile | None:
    """The first usable account of those that stand in for `profile`: its own `fallback`, the fallback's, and so on."""
    seen, current = {profile.id}, profile
    while current.fallback:
        found = await tx.execute(
            select(Profile)
            .where(Profile.installation_id == current.installation_id, Profile.name == current.fallback)
            .where(or_(Profile.person_id.is_(None), Profile.person_id == current.person_id))
            .order_by(Profile.person_id.is_(None))
            .limit(1)
        )
        following = found.scalar_one_or_none()
        if following is None or following.id in seen:
            return None
        if not is_limited(following, now):
            return following
        seen.add(following.id)
        current = following
    return None
