"""Accounts on the page of whoever is signed in: their own, and what they may know of everybody's."""

import pytest
from sqlalchemy import select

from github.webhooks.outcomes import Actor
from loops.accounts.accounts import NewAccount, add
from loops.secrets.vault import Vault
from loops.sessions.known_accounts import remember_installation
from loops.store.tables import Profile
from tests.app.web.signin.conftest import PUBLIC, Service, sign_in

OURS = {"origin": PUBLIC}
FORM = {"installation": "acme", "name": "mine", "provider": "anthropic", "kind": "api_key", "secret": "sk-ant-mine"}


async def accounts(service: Service) -> list[Profile]:
    async with service.shared.database.read() as tx:
        return list((await tx.execute(select(Profile).order_by(Profile.id))).scalars())


@pytest.fixture(autouse=True)
async def installation(service: Service) -> None:
    async with service.shared.database.write() as tx:
        await remember_installation(tx, 5, Actor(9, "acme"), 1000)


@pytest.fixture
async def everybodys(service: Service) -> int:
    """The number of an account of the whole installation."""
    vault = Vault(service.shared.settings.encryption_key_list())
    wanted = NewAccount("acme", "shared", "openai", "api_key", "sk-shared", model="m")
    return (await add(service.shared.database, vault, wanted, 1000)).id


async def test_a_person_adds_sees_and_removes_their_own_account(service: Service, everybodys: int) -> None:
    async with service.browser() as bob:
        await sign_in(bob, "bob")
        kept = await bob.post("/accounts", data=FORM, headers=OURS)
        assert (kept.status_code, kept.headers["location"]) == (303, "/accounts")
        own = (await accounts(service))[-1]
        assert (own.name, own.person_id) == ("mine", service.local.user("bob").id)
        shown = (await bob.get("/accounts")).text
        assert "mine" in shown and "shared" in shown and "sk-ant-mine" not in shown
        assert f"/accounts/{own.id}/test" in shown and f"/accounts/{everybodys}/" not in shown
        assert (await bob.post(f"/accounts/{own.id}/remove", headers=OURS)).status_code == 303
    assert [each.name for each in await accounts(service)] == ["shared"]


@pytest.mark.parametrize("act", ["test", "remove"])
async def test_nobody_touches_what_is_not_theirs(service: Service, everybodys: int, act: str) -> None:
    async with service.browser() as bob:
        await sign_in(bob, "bob")
        assert (await bob.post(f"/accounts/{everybodys}/{act}", headers=OURS)).status_code == 404
    async with service.browser() as nobody:
        answer = await nobody.post(f"/accounts/{everybodys}/{act}", headers=OURS)
        assert answer.headers["location"].startswith("/signin")
    assert len(await accounts(service)) == 1


async def test_who_has_a_role_nowhere_sees_no_account_and_adds_none(service: Service, everybodys: int) -> None:
    async with service.browser() as dave:
        await sign_in(dave, "dave")
        assert "shared" not in (await dave.get("/accounts")).text
        refused = await dave.post("/accounts", data=FORM, headers=OURS)
        assert (refused.status_code, "no installation on" in refused.text) == (400, True)
    assert len(await accounts(service)) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"base_url": "http://169.254.169.254/latest"}, "Endpoints are named by whoever runs the service"),
        ({"provider": "openai", "model": "m"}, "This is a key of &#34;anthropic&#34;, not of &#34;openai&#34;."),
        ({"provider": "antropic"}, "is not known"),
        ({"name": ""}, "needs a name"),
        ({"secret": "sk-ant-" + "x" * 300_000}, "are allowed"),
    ],
)
async def test_what_cannot_be_used_is_refused_in_words_and_never_with_the_secret(
    service: Service, change: dict[str, str], said: str
) -> None:
    async with service.browser() as bob:
        await sign_in(bob, "bob")
        refused = await bob.post("/accounts", data=FORM | change, headers=OURS)
    assert (refused.status_code, said in refused.text) == (400, True), refused.text
    assert "sk-ant-" not in refused.text and await accounts(service) == []


@pytest.mark.parametrize(
    "headers", [{}, {"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "none"}]
)
async def test_a_form_from_elsewhere_changes_nothing(service: Service, headers: dict[str, str]) -> None:
    async with service.browser() as bob:
        await sign_in(bob, "bob")
        assert (await bob.post("/accounts", data=FORM, headers=headers)).status_code == 403
    assert await accounts(service) == []


async def test_an_account_is_for_its_owner_whatever_the_form_says(service: Service) -> None:
    async with service.browser() as bob:
        await sign_in(bob, "bob")
        assert (await bob.post("/accounts", data=FORM | {"person": "dave"}, headers=OURS)).status_code == 303
    assert [each.person_id for each in await accounts(service)] == [service.local.user("bob").id]
