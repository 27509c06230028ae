"""Which agent works for whom, on which account, and what decided it."""

import time
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.commands.doctor.finding import Finding
from app.settings import Settings
from loops.accounts.choice import ORDER, CannotRun, choose
from loops.accounts.limited import is_limited
from loops.store.database import Database
from loops.store.schema import look
from loops.store.tables import Installation, Person, Profile

SHOWN = 50
"""Owners of accounts that are told one by one."""


async def check_agents(settings: Settings) -> list[Finding]:
    """By each owner of accounts; nothing where the database cannot be read yet, which is told elsewhere."""
    database = Database(settings.database)
    try:
        if not (await look(database)).usable:
            return []
        async with database.read() as tx:
            query = select(Profile).order_by(Profile.installation_id, Profile.person_id, Profile.id)
            accounts = (await tx.execute(query)).scalars().all()
            owners = list(dict.fromkeys((each.installation_id, each.person_id) for each in accounts))
            found = [await _agent(tx, settings, *owner) for owner in owners[:SHOWN]]
    finally:
        await database.close()
    told = Finding("agents", "ok", f"the first that is named decides which one works: {'; '.join(ORDER)}")
    return [told, *(found or [_without_accounts(settings)]), *_limited(accounts)]


async def _agent(tx: AsyncSession, settings: Settings, installation: int, person: int | None) -> Finding:
    whose = await _named(tx, installation, person)
    try:
        chosen = await choose(tx, installation, person, options={}, config={}, default=settings.runtime)
    except CannotRun as error:
        mend = "Change GREENLOOP_RUNTIME, add an account that runs this agent, or remove those that do not."
        return Finding("agent", "fail", f"{whose}: {error}", mend)
    account = f" on the account {chosen.profile.name!r}" if chosen.profile is not None else ""
    return Finding("agent", "ok", f"{whose}: {chosen.runtime.name}{account}, decided by {chosen.decided}")


async def _named(tx: AsyncSession, installation: int, person: int | None) -> str:
    where = await tx.get(Installation, installation)
    who = await tx.get(Person, person) if person is not None else None
    place = where.account_login if where is not None else f"installation {installation}"
    return f"{place}, {who.login if who is not None else 'everybody' if person is None else f'person {person}'}"


def _without_accounts(settings: Settings) -> Finding:
    if settings.runtime == "command":
        return Finding("agent", "ok", f"a program of your own, without an account, decided by {ORDER[2]}")
    mend = "Add one with `greenloop profile add`, or name a program with GREENLOOP_RUNTIME=command."
    return Finding("agent", "warn", "there is no provider account, so no agent can work", mend)


def _limited(accounts: Sequence[Profile]) -> list[Finding]:
    now = time.time()
    mend = "`greenloop profile test` asks its provider once, and lets it work again where that answers."
    return [
        Finding("account", "warn", f"the provider of {each.name!r} refused it ({each.limited_why})", mend)
        for each in accounts
        if is_limited(each, now)
    ]
