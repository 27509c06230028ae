import asyncio
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import select

from github.outcomes import Actor, Repo
from loops.database import Database
from loops.migrations import upgrade
from loops.steps.facts import remember_installation, remember_repository
from loops.tables import Secret
from loops.vault import Vault
from tests.app.test_profile import greenloop

KEY = Fernet.generate_key().decode()


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/greenloop.db"

    async def prepare() -> None:
        await upgrade(url)
        database = Database(url)
        async with database.write() as tx:
            await remember_installation(tx, 3, Actor(9, "acme"), 1000)
            await remember_repository(tx, Repo(7, "acme/widgets", 3, "main"), 1000)
        await database.close()

    asyncio.run(prepare())
    return url


def values(url: str) -> dict[tuple[int | None, str], bytes]:
    async def read() -> dict[tuple[int | None, str], bytes]:
        database = Database(url)
        async with database.read() as tx:
            found = (await tx.execute(select(Secret))).scalars().all()
        await database.close()
        return {(each.repository_id, each.name): each.value for each in found}

    return asyncio.run(read())


def test_a_secret_is_kept_encrypted_replaced_listed_by_name_and_forgotten(database_url: str) -> None:
    for value in ("first value\n", "second value\n"):
        done = greenloop(database_url, KEY, "secret", "set", "acme/widgets", "TOKEN", stdin=value)
        assert (done.returncode, done.stdout) == (0, "TOKEN is kept for acme/widgets\n"), done.stderr
    greenloop(database_url, KEY, "secret", "set", "acme", "TOKEN", stdin="everybody's")
    kept = values(database_url)
    assert {place: Vault([KEY]).decrypt(value) for place, value in kept.items()} == {
        (7, "TOKEN"): "second value",
        (None, "TOKEN"): "everybody's",
    }
    assert not any(b"value" in value for value in kept.values())
    listed = greenloop(database_url, KEY, "secret", "list", "acme/widgets")
    assert listed.stdout.startswith("TOKEN  ") and "value" not in listed.stdout
    assert greenloop(database_url, KEY, "secret", "remove", "Acme/Widgets", "TOKEN").returncode == 0
    assert greenloop(database_url, KEY, "secret", "remove", "acme/widgets", "TOKEN").returncode == 1
    assert set(values(database_url)) == {(None, "TOKEN")}


@pytest.mark.parametrize(
    ("target", "name", "value", "said"),
    [
        ("acme/gadgets", "TOKEN", "a value", "no repository 'acme/gadgets' is known"),
        ("nobody", "TOKEN", "a value", "no installation on 'nobody' is known"),
        ("acme/widgets", "1TOKEN", "a value", "'1TOKEN' is no name"),
        ("acme/widgets", "TOKEN", "12345", "has 5 characters; 6 to 65536"),
        ("acme/widgets", "TOKEN", "\n", "no secret on standard input"),
    ],
)
def test_what_cannot_be_kept_is_refused_without_its_value(
    database_url: str, target: str, name: str, value: str, said: str
) -> None:
    done = greenloop(database_url, KEY, "secret", "set", target, name, stdin=value)
    assert done.returncode == 2 and said in done.stderr
    assert "12345" not in done.stderr and values(database_url) == {}


def test_after_a_rotation_the_old_key_can_go(database_url: str) -> None:
    new = Fernet.generate_key().decode()
    greenloop(database_url, KEY, "secret", "set", "acme/widgets", "TOKEN", stdin="a value")
    assert greenloop(database_url, f"{new}\n{KEY}", "rotate-keys").returncode == 0
    assert Vault([new]).decrypt(values(database_url)[7, "TOKEN"]) == "a value"
