"""What a caller can ask for work with, and where: provider accounts and repositories."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from app.web.api.answers import AccountBrief, AccountPage, Me, RepositoryBrief, RepositoryPage
from app.web.api.callers import OPERATOR, Caller
from app.web.api.cursors import cursor, place
from app.web.api.problems import Problem
from app.web.api.reading import REPOSITORIES, repository_of
from app.web.api.rights import Place
from app.web.state import AppState
from loops import operations
from loops.accounts.accounts import Shown, listed
from loops.accounts.personal_tokens import revoke
from loops.store.tables import Installation, Person, Repository


def me(caller: Caller) -> Me:
    """Whom the token acts for."""
    if caller.person is None:
        return Me(OPERATOR, None, ())
    return Me("person", caller.person.login, tuple(sorted(caller.scopes)))


async def end_token(here: AppState, caller: Caller) -> Me:
    """Revoke the token of this call. Raises Problem for the operator's, which stands in the settings."""
    if caller.person is None:
        raise Problem(403, "the operator's token stands in the settings, and ends there")
    async with here.database.write() as tx:
        owner = await tx.get_one(Person, caller.person.id)
        await revoke(tx, owner, caller.token_id, surface="api", now=here.clock())
    return me(caller)


async def accounts(here: AppState, caller: Caller, asked: Mapping[str, Any]) -> AccountPage:
    """A person's own accounts, and with a `repository` those that its installation has for everybody; of the operator's
    installation all."""
    found = await listed(here.database)
    tenant: int | None = asked.get("installation")
    if (repository := asked.get("repository")) is not None:
        tenant = (await repository_of(here, caller, tenant, repository)).installation_id
    elif caller.person is None:
        async with here.database.read() as tx:
            tenant = await operations.tenant_of(tx, tenant)
    if caller.person is not None:
        owners = (caller.person.id, *((None,) if repository is not None else ()))
        found = [each for each in found if each.person_id in owners]
    return AccountPage(tuple(_account(each) for each in found if tenant in (None, each.installation_id)))


async def repositories(here: AppState, caller: Caller, asked: Mapping[str, Any]) -> RepositoryPage:
    """A page of repositories in which the caller may ask for work, of those that Greenloop knows."""
    text, tenant, limit = asked.get("text"), asked.get("installation"), asked["limit"]
    async with here.database.read() as tx:
        if caller.person is None:
            tenant = await operations.tenant_of(tx, tenant)
        there = select(Installation.id).where(Installation.removed_at.is_(None))
        query = select(Repository).where(Repository.removed_at.is_(None), Repository.installation_id.in_(there))
        if tenant is not None:
            query = query.where(Repository.installation_id == tenant)
        if text is not None:
            query = query.where(Repository.full_name.icontains(text, autoescape=True))
        question = f"repositories {caller.key} {tenant} {text}"
        if (given := asked.get("cursor")) is not None:
            query = query.where(Repository.id > place(here.box_key, question, given))
        size = limit if caller.person is None else min(limit, REPOSITORIES)
        rows = (await tx.execute(query.order_by(Repository.id).limit(size + 1))).scalars().all()
    more, rows = len(rows) > size, rows[:size]
    seen = []
    for row in rows:
        at = Place(row.installation_id, row.id, row.full_name)
        if caller.person is None or await here.rights.may_ask(caller.person, at):
            seen.append(
                RepositoryBrief(
                    row.id, row.full_name, row.default_branch, row.private, row.archived, row.installation_id
                )
            )
    return RepositoryPage(tuple(seen), cursor(here.box_key, question, rows[-1].id) if more else None)


def _account(found: Shown) -> AccountBrief:
    return AccountBrief(
        id=found.id,
        installation=found.installation_id,
        owner="installation" if found.person_id is None else "person",
        name=found.name,
        provider=found.provider,
        kind=found.credential_kind,
        model=found.model,
        default=found.is_default,
        fallback=found.fallback,
        runtimes=found.runtimes,
        limited_until=found.limited_until,
    )
