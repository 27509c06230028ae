"""Logins are refreshed once, by one process, and what comes of it is kept."""

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import select

from loops.gateway.refreshing import LoginRefused, LoginUnreachable, Refresher
from loops.gateway.upstreams import Account
from loops.runtimes.base import CredentialKind
from loops.runtimes.profiles import login_of
from loops.secrets.vault import Vault
from loops.store.database import Database
from loops.store.tables import Profile

NOW = 1_000_000.0
VAULT = Vault([Fernet.generate_key().decode()])


def jwt(ends: float) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": ends}).encode()).decode().rstrip("=")
    return f"head.{claims}.sign"


CLAUDE = json.dumps({"claudeAiOauth": {"accessToken": "old", "refreshToken": "r-1", "expiresAt": NOW * 1000, "x": 1}})
CODEX = json.dumps({"auth_mode": "chatgpt", "tokens": {"access_token": jwt(NOW), "refresh_token": "r-1"}})
OPENCODE = json.dumps({"openai": {"type": "oauth", "access": jwt(NOW), "refresh": "r-1", "accountId": "a"}, "x": {}})
FILES: list[tuple[CredentialKind, str]] = [
    ("anthropic_oauth_json", CLAUDE),
    ("opencode_auth_json", CODEX),
    ("opencode_auth_json", OPENCODE),
]


class Issuer:
    """The provider's end: a refresh token is good once."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.asked: list[tuple[str, Mapping[str, str]]] = []
        self.good = "r-1"

    async def __call__(self, url: str, body: Mapping[str, str]) -> tuple[int, Any]:
        self.asked.append((url, body))
        await asyncio.sleep(0.01)
        if self.status != 200:
            return self.status, {"error": "no"}
        if body["refresh_token"] != self.good:
            return 400, {"error": "invalid_grant"}
        self.good = f"r-{len(self.asked) + 1}"
        return 200, {"access_token": jwt(NOW + 9_000), "refresh_token": self.good, "expires_in": 9_000}


async def stored(database: Database, kind: CredentialKind, secret: str) -> Account:
    row = Profile(
        installation_id=5, name="main", provider="p", credential_kind=kind, secret=VAULT.encrypt(secret),
        created_at=0, updated_at=0,
    )  # fmt: skip
    async with database.write() as tx:
        tx.add(row)
        await tx.flush()
        return Account(row.id, "p", kind, "", secret)


async def kept(database: Database) -> str:
    async with database.read() as tx:
        return VAULT.decrypt((await tx.execute(select(Profile))).scalar_one().secret)


def refresher(database: Database, issuer: Any) -> Refresher:
    return Refresher(database, VAULT, issuer, lambda: NOW)


@pytest.mark.parametrize(("kind", "file"), FILES, ids=["claude", "codex", "opencode"])
async def test_a_login_that_ends_is_refreshed_once_by_all_who_need_it_and_kept(
    database: Database, kind: CredentialKind, file: str
) -> None:
    issuer, account = Issuer(), await stored(database, kind, file)
    # two processes, each with several turns
    processes = [refresher(database, issuer) for _ in range(2)]
    found = await asyncio.gather(*(each.current(account) for each in processes * 3))
    assert len(issuer.asked) == 1
    login = login_of(kind)
    assert login is not None and issuer.asked[0][0] == login.token_url
    assert {each.secret for each in found} == {await kept(database)}
    tokens = login.read(await kept(database))
    assert tokens.access == jwt(NOW + 9_000) and tokens.refresh == "r-2" and not tokens.is_due(NOW)
    assert json.loads(await kept(database)).keys() >= json.loads(file).keys(), "the file stays what it was"
    assert (await processes[0].current(account)).secret == await kept(database)
    assert len(issuer.asked) == 1


async def test_a_token_that_was_refused_is_refreshed_though_its_time_is_not_over(database: Database) -> None:
    issuer = Issuer()
    good = CLAUDE.replace(str(NOW * 1000), str((NOW + 9_000) * 1000))
    account = await stored(database, "anthropic_oauth_json", good)
    one = refresher(database, issuer)
    assert (await one.current(account)).secret == good and not issuer.asked
    assert (await one.current(account, "old")).secret != good
    assert (await one.current(account, "old")).secret == await kept(database) and len(issuer.asked) == 1


@pytest.mark.parametrize(("status", "error"), [(400, LoginRefused), (401, LoginRefused), (500, LoginUnreachable)])
async def test_a_refused_refresh_is_said_without_a_secret_and_can_be_tried_again(
    database: Database, status: int, error: type[Exception]
) -> None:
    issuer, account = Issuer(status), await stored(database, "anthropic_oauth_json", CLAUDE)
    one = refresher(database, issuer)
    with pytest.raises(error) as caught:
        await one.current(account)
    assert "r-1" not in str(caught.value) and await kept(database) == CLAUDE
    issuer.status = 200
    assert (await one.current(account)).secret != CLAUDE


async def test_a_login_that_is_stored_while_the_former_is_refreshed_stays(database: Database) -> None:
    issuer, account = Issuer(), await stored(database, "anthropic_oauth_json", CLAUDE)
    asking = asyncio.create_task(refresher(database, issuer).current(account))
    while not issuer.asked:
        await asyncio.sleep(0)
    new = CLAUDE.replace("r-1", "r-9")
    async with database.write() as tx:
        (await tx.execute(select(Profile))).scalar_one().secret = VAULT.encrypt(new)
    await asking
    assert await kept(database) == new


async def test_who_goes_away_while_a_login_is_refreshed_loses_nothing(database: Database) -> None:
    issuer, account = Issuer(), await stored(database, "anthropic_oauth_json", CLAUDE)
    one = refresher(database, issuer)
    asking = asyncio.create_task(one.current(account))
    while not issuer.asked:
        await asyncio.sleep(0)
    asking.cancel()
    await one.close()
    assert "r-2" in await kept(database)


async def test_a_process_that_died_over_a_refresh_keeps_the_others_from_it_for_a_while_only(database: Database) -> None:
    issuer, account = Issuer(), await stored(database, "anthropic_oauth_json", CLAUDE)
    async with database.write() as tx:
        (await tx.execute(select(Profile))).scalar_one().refreshing_until = NOW + 30
    clock = [NOW]
    one = Refresher(database, VAULT, issuer, lambda: clock[0])
    asking = asyncio.create_task(one.current(account))
    await asyncio.sleep(0.05)
    assert not issuer.asked
    clock[0] += 31
    await asking
    assert len(issuer.asked) == 1
