import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import select, update

from github.outcomes import Actor
from loops.accounts import NewAccount, add
from loops.database import Database
from loops.migrations import upgrade
from loops.steps.facts import remember_installation
from loops.tables import Installation, Profile
from loops.vault import Vault, VaultError


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/greenloop.db"

    async def prepare() -> None:
        await upgrade(url)
        database = Database(url)
        async with database.write() as tx:
            await remember_installation(tx, 3, Actor(9, "acme"), 1000)
        await database.close()

    asyncio.run(prepare())
    return url


def greenloop(url: str, keys: str, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "GREENLOOP_DATABASE_URL": url, "GREENLOOP_ENCRYPTION_KEYS": keys}
    command = [sys.executable, "-m", "app", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, env=env, check=False)


def secret_of(url: str) -> bytes:
    async def read() -> bytes:
        database = Database(url)
        async with database.read() as tx:
            found = (await tx.execute(select(Profile.secret))).scalar_one()
        await database.close()
        return found

    return asyncio.run(read())


def test_an_account_is_kept_encrypted_shown_without_its_secret_and_forgotten(database_url: str) -> None:
    key = Fernet.generate_key().decode()
    added = greenloop(database_url, key, "profile", "add", "acme", "main", "--provider", "openai", stdin="sk-secret\n")
    assert added.returncode == 0, added.stderr
    assert "opencode, codex" in added.stdout
    assert b"sk-secret" not in secret_of(database_url)
    listed = greenloop(database_url, key, "profile", "list")
    assert "main (openai, api_key) for everybody" in listed.stdout
    assert "sk-secret" not in listed.stdout
    assert greenloop(database_url, key, "profile", "remove", "1").returncode == 0
    assert greenloop(database_url, key, "profile", "remove", "1").returncode == 1


def test_after_a_rotation_the_old_key_can_go(database_url: str) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    greenloop(database_url, old, "profile", "add", "acme", "main", "--provider", "openai", stdin="sk-secret")
    rotated = greenloop(database_url, f"{new}\n{old}", "rotate-keys")
    assert rotated.returncode == 0, rotated.stderr
    assert Vault([new]).decrypt(secret_of(database_url)) == "sk-secret"
    with pytest.raises(VaultError):
        Vault([old]).decrypt(secret_of(database_url))


def test_an_unknown_installation_is_said(database_url: str) -> None:
    key = Fernet.generate_key().decode()
    done = greenloop(database_url, key, "profile", "add", "nobody", "main", "--provider", "openai", stdin="x")
    assert (done.returncode, "no installation on 'nobody' is known" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("provider", "kind", "secret", "said"),
    [
        ("x", "opencode_auth_json", "sk-no-json", "no JSON object"),
        ("x", "opencode_auth_json", '{"openrouter": {"type": "api", "key": "sk-x"}}', 'no usable "openai" entry'),
        ("anthropic", "anthropic_oauth_json", '{"accessToken": "sk-x"}', "no login of Claude Code"),
        ("x", "anthropic_oauth_json", '{"claudeAiOauth": {"accessToken": "sk-x"}}', "of the provider anthropic"),
        ("x", "api_key", "sk-x\nsk-y", "a single line of ASCII characters"),
        ("x", "api_key", "sk-pässword", "a single line of ASCII characters"),
        ("x", "password", "sk-x", "Known: api_key, opencode_auth_json, anthropic_oauth_json, none."),
    ],
)
def test_a_login_that_is_none_is_refused_when_it_is_added(
    database_url: str, provider: str, kind: str, secret: str, said: str
) -> None:
    key = Fernet.generate_key().decode()
    words = ("profile", "add", "acme", "main", "--provider", provider, "--kind", kind)
    done = greenloop(database_url, key, *words, stdin=secret)
    assert done.returncode == 2 and said in done.stderr
    assert "sk-" not in done.stderr and "Traceback" not in done.stderr
    assert greenloop(database_url, key, "profile", "list").stdout == ""


def test_an_endpoint_that_is_none_is_refused(database_url: str) -> None:
    key = Fernet.generate_key().decode()
    words = ("profile", "add", "acme", "main", "--provider", "x", "--base-url", "models.example/v1")
    done = greenloop(database_url, key, *words, stdin="sk-x")
    assert done.returncode == 2 and "begins with https://" in done.stderr


async def test_an_account_goes_to_the_installation_that_is_there_now(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/greenloop.db"
    await upgrade(url)
    database, vault = Database(url), Vault([Fernet.generate_key().decode()])
    async with database.write() as tx:
        await remember_installation(tx, 3, Actor(9, "Acme"), 1000)
        await remember_installation(tx, 4, Actor(9, "Acme"), 2000)
        await tx.execute(update(Installation).where(Installation.id == 3).values(removed_at=1500.0))
    kept = await add(database, vault, NewAccount("acme", "main", "Anthropic", "api_key", "sk-x"), 3000)
    assert (kept.installation_id, kept.provider, kept.runtimes) == (4, "anthropic", ("claude", "opencode"))
    await database.close()
