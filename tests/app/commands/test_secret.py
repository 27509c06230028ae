import asyncio

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import select

from loops.secrets.vault import Vault
from loops.store.database import Database
from loops.store.tables import Secret
from tests.app.command_line import Greenloop

KEY = Fernet.generate_key().decode()


def values(url: str) -> dict[tuple[int | None, str], bytes]:
    async def read() -> dict[tuple[int | None, str], bytes]:
        database = Database(url)
        async with database.read() as tx:
            found = (await tx.execute(select(Secret))).scalars().all()
        await database.close()
        return {(each.repository_id, each.name): each.value for each in found}

    return asyncio.run(read())


def test_a_secret_is_kept_encrypted_replaced_listed_by_name_and_forgotten(greenloop: Greenloop) -> None:
    for value in ("first value\n", "second value\n"):
        done = greenloop("secret", "set", "acme/widgets", "TOKEN", stdin=value, keys=KEY)
        assert (done.exit_code, done.stdout) == (0, "TOKEN is kept for acme/widgets\n"), done.stderr
    greenloop("secret", "set", "acme", "TOKEN", stdin="everybody's", keys=KEY)
    kept = values(greenloop.url)
    assert {place: Vault([KEY]).decrypt(value) for place, value in kept.items()} == {
        (7, "TOKEN"): "second value",
        (None, "TOKEN"): "everybody's",
    }
    assert not any(b"value" in value for value in kept.values())
    listed = greenloop("secret", "list", "acme/widgets", keys=KEY)
    assert listed.stdout.startswith("TOKEN  ") and "value" not in listed.stdout
    assert greenloop("secret", "remove", "Acme/Widgets", "TOKEN", keys=KEY).exit_code == 0
    assert greenloop("secret", "remove", "acme/widgets", "TOKEN", keys=KEY).exit_code == 1
    assert set(values(greenloop.url)) == {(None, "TOKEN")}


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
    greenloop: Greenloop, target: str, name: str, value: str, said: str
) -> None:
    done = greenloop("secret", "set", target, name, stdin=value, keys=KEY)
    assert done.exit_code == 2 and said in done.stderr
    assert "12345" not in done.stderr and values(greenloop.url) == {}


def test_after_a_rotation_the_old_key_can_go(greenloop: Greenloop) -> None:
    new = Fernet.generate_key().decode()
    greenloop("secret", "set", "acme/widgets", "TOKEN", stdin="a value", keys=KEY)
    assert greenloop("rotate-keys", keys=f"{new}\n{KEY}").exit_code == 0
    assert Vault([new]).decrypt(values(greenloop.url)[7, "TOKEN"]) == "a value"
