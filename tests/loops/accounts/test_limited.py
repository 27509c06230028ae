"""Accounts that a provider refused, and those that stand in for them."""

from typing import Any

import pytest

from loops.accounts.choice import AccountLimited, CannotRun, Chosen, choose
from loops.accounts.limited import limit
from loops.runtimes.failures import FailureKind
from loops.store.database import Database
from loops.store.tables import Profile

NOW = 1000.0


def account(name: str, *, fallback: str | None = None, person: int | None = None, **about: Any) -> Profile:
    usual: dict[str, Any] = {"provider": "anthropic", "credential_kind": "api_key", "secret": b"", "model": "m"}
    known = {"installation_id": 1, "person_id": person, "is_default": name == "main", "created_at": 0, "updated_at": 0}
    return Profile(name=name, fallback=fallback, **{**usual, **known, **about})


async def chosen(shared_url: str, *accounts: Profile, now: float | None = NOW, owner: int | None = None) -> Chosen:
    database = Database(shared_url)
    try:
        async with database.write() as tx:
            tx.add_all(accounts)
            await tx.flush()
            return await choose(tx, 1, owner, options={}, config={}, default="claude", now=now)
    finally:
        await database.close()


def limited(name: str, why: FailureKind = FailureKind.RATE_LIMIT, **about: Any) -> Profile:
    made = account(name, **about)
    limit(made, why, NOW + 60)
    return made


async def test_a_limited_account_gives_way_to_the_next_that_is_not(sqlite_url: str) -> None:
    found = await chosen(
        sqlite_url, limited("main", fallback="second"), limited("second", fallback="third"), account("third")
    )
    assert found.profile is not None and found.profile.name == "third"


async def test_without_another_the_turn_waits_for_it(sqlite_url: str) -> None:
    with pytest.raises(AccountLimited) as caught:
        await chosen(sqlite_url, limited("main", fallback="second"), limited("second", fallback="main"))
    assert caught.value.until == NOW + 60


async def test_a_bad_key_is_said_instead_of_waited_for(sqlite_url: str) -> None:
    with pytest.raises(CannotRun) as caught:
        await chosen(sqlite_url, limited("main", FailureKind.CREDENTIALS))
    assert caught.value.reason == "credentials"


async def test_its_time_over_it_is_used_again(sqlite_url: str) -> None:
    found = await chosen(sqlite_url, limited("main"), now=NOW + 61)
    assert found.profile is not None and found.profile.name == "main"


async def test_who_asks_while_it_is_limited_is_not_turned_away(sqlite_url: str) -> None:
    found = await chosen(sqlite_url, limited("main"), now=None)
    assert found.profile is not None and found.profile.name == "main"


async def test_nobody_elses_account_stands_in(sqlite_url: str) -> None:
    with pytest.raises(AccountLimited):
        await chosen(sqlite_url, limited("main", person=1, fallback="spare"), account("spare", person=2), owner=1)
