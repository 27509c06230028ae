"""Which agent and which account somebody's turn gets, and what decided it."""

from typing import Any

import pytest

from loops.accounts.choice import ORDER, CannotRun, Chosen, choose
from loops.accounts.limited import limit
from loops.runtimes.failures import FailureKind
from loops.store.database import Database
from loops.store.tables import Profile

COMMENT, REPOSITORY, SETTING, ACCOUNT = ORDER


def account(name: str, provider: str, person: int | None = None, **about: Any) -> Profile:
    known = {"installation_id": 1, "credential_kind": "api_key", "secret": b"", "model": "m"}
    return Profile(
        **{**known, "name": name, "provider": provider, "person_id": person, **about}, created_at=0, updated_at=0
    )


async def chosen(
    url: str,
    *accounts: Profile,
    comment: str | None = None,
    repository: str | None = None,
    setting: str = "",
    now: float | None = None,
) -> Chosen:
    database = Database(url)
    try:
        async with database.write() as tx:
            tx.add_all(accounts)
            await tx.flush()
            asked = {"options": {"runtime": comment}, "config": {"runtime": repository}}
            return await choose(tx, 1, 7, **asked, default=setting, now=now)
    finally:
        await database.close()


@pytest.mark.parametrize(
    ("comment", "repository", "setting", "runtime", "decided"),
    [
        ("opencode", "claude", "claude", "opencode", COMMENT),
        (None, "opencode", "claude", "opencode", REPOSITORY),
        (None, None, "opencode", "opencode", SETTING),
        (None, None, "command", "command", SETTING),
        (None, None, "", "claude", ACCOUNT),
        ("command", None, "claude", "command", COMMENT),
    ],
)
async def test_what_is_named_first_decides_and_no_account_overrides_it(
    sqlite_url: str, comment: str | None, repository: str | None, setting: str, runtime: str, decided: str
) -> None:
    found = await chosen(
        sqlite_url, account("main", "anthropic"), comment=comment, repository=repository, setting=setting
    )
    assert (found.runtime.name, found.decided) == (runtime, decided)
    assert found.profile is not None and found.profile.name == "main"


@pytest.mark.parametrize(
    ("named", "line"),
    [({"comment": "codex"}, COMMENT), ({"repository": "codex"}, REPOSITORY), ({"setting": "codex"}, SETTING)],
)
async def test_an_agent_that_no_account_runs_is_refused_with_who_named_it(
    sqlite_url: str, named: dict[str, Any], line: str
) -> None:
    with pytest.raises(CannotRun) as refused:
        await chosen(sqlite_url, account("main", "anthropic"), **named)
    assert str(refused.value) == (
        f'Provider "anthropic" cannot run the "codex" runtime. Supported: claude, opencode. It was named by {line}.'
    )


async def test_of_several_accounts_the_first_that_runs_the_named_agent_is_used(sqlite_url: str) -> None:
    accounts = (
        account("own", "anthropic", person=7, is_default=True),
        account("spare", "openrouter", person=7),
        account("other's", "openai", person=8),
        account("shared", "openai"),
    )
    found = await chosen(sqlite_url, *accounts, setting="codex")
    assert found.profile is not None and found.profile.name == "shared"


async def test_one_that_stands_in_for_a_limited_account_runs_the_named_agent_or_does_not_stand_in(
    sqlite_url: str,
) -> None:
    main = account("main", "anthropic", fallback="spare")
    limit(main, FailureKind.QUOTA, 60)
    with pytest.raises(CannotRun) as refused:
        await chosen(sqlite_url, main, account("spare", "openai"), setting="claude", now=1)
    assert refused.value.reason == "quota"


async def test_without_an_account_and_without_a_word_it_is_said_what_is_missing(sqlite_url: str) -> None:
    with pytest.raises(CannotRun, match=r"No agent can work here.*greenloop profile add"):
        await chosen(sqlite_url)
    with pytest.raises(CannotRun, match='The "codex" runtime needs a provider account'):
        await chosen(sqlite_url, setting="codex")


async def test_an_old_name_is_said_with_the_new_one(sqlite_url: str) -> None:
    found = await chosen(sqlite_url, account("main", "openai"), repository="openai_direct")
    assert (found.runtime.name, found.decided) == ("opencode", REPOSITORY)
    assert found.warning is not None and 'is now called "opencode"' in found.warning
