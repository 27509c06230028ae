"""What we keep of GitHub's accounts, repositories and people: written whenever we hear of them, keyed by numeric id."""

from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from github.repositories.queries import Facts
from github.webhooks.outcomes import Actor, Repo
from loops.store.tables import Installation, Person, Repository


async def put(tx: AsyncSession, table: type[Any], key: str, values: dict[str, Any], *, new: dict[str, Any]) -> None:
    """Insert a row or update it; `new` are the values that only an insert sets."""
    insert = postgresql.insert if tx.get_bind().dialect.name == "postgresql" else sqlite.insert
    statement = insert(table).values(**values, **new)
    changed = {name: value for name, value in values.items() if name != key}
    await tx.execute(statement.on_conflict_do_update(index_elements=[key], set_=changed))


async def remember_person(tx: AsyncSession, actor: Actor, now: float) -> None:
    """A person as GitHub names them now."""
    await put(tx, Person, "id", {"id": actor.id, "login": actor.login, "updated_at": now}, new={})


async def remember_installation(tx: AsyncSession, installation_id: int, account: Actor | None, now: float) -> None:
    """An installation we heard of; its account's name is filled in when GitHub says it."""
    known = {"account_id": account.id, "account_login": account.login} if account else {}
    missing = {} if account else {"account_id": 0, "account_login": ""}
    await put(
        tx,
        Installation,
        "id",
        {"id": installation_id, "updated_at": now, **known},
        new={**missing, "account_type": ""},
    )


async def remember_repository(tx: AsyncSession, repo: Repo, now: float, facts: Facts | None = None) -> None:
    """A repository under its present name."""
    values: dict[str, Any] = {
        "id": repo.id,
        "installation_id": repo.installation_id,
        "full_name": facts.full_name if facts else repo.full_name,
        "removed_at": None,
        "updated_at": now,
    }
    if facts is not None:
        values |= {"default_branch": facts.default_branch, "private": facts.private, "archived": facts.archived}
        new = {}
    else:
        new = {"default_branch": repo.default_branch, "private": True, "archived": False}
    await put(tx, Repository, "id", values, new=new)
