"""Personal tokens on their page: made by who is signed in, shown once, revoked, and nobody else's."""

import re

import httpx
import pytest
from sqlalchemy import select

from loops.accounts.personal_tokens import holder
from loops.store.access_tables import PersonalToken
from loops.store.tables import Audit
from tests.app.web.signin.conftest import PUBLIC, Service, sign_in

OURS = {"origin": PUBLIC}
FORM = {"name": "laptop", "days": "30", "scope": ["sessions:read", "sessions:write"]}


async def tokens(service: Service) -> list[PersonalToken]:
    async with service.shared.database.read() as tx:
        return list((await tx.execute(select(PersonalToken).order_by(PersonalToken.id))).scalars())


async def made(browser: httpx.AsyncClient) -> str:
    answer = await browser.post("/tokens", data=FORM, headers=OURS)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    (text,) = re.findall(r"glp_[\w-]+", answer.text)
    return str(text)


async def test_a_token_is_shown_once_kept_as_a_hash_and_acts_for_who_made_it(service: Service) -> None:
    async with service.browser() as bob:
        await sign_in(bob, "bob")
        text = await made(bob)
        shown = (await bob.get("/tokens")).text
    assert "laptop" in shown and text not in shown
    (row,) = await tokens(service)
    assert text not in str(vars(row))
    async with service.shared.database.read() as tx:
        found = await holder(tx, text, service.shared.clock())
        assert await holder(tx, text, row.expires_at) is None
        assert await holder(tx, text + "x", row.created_at) is None
        (kept,) = (await tx.execute(select(Audit))).scalars()
    assert found is not None
    assert (found.login, sorted(found.scopes)) == ("bob", ["sessions:read", "sessions:write"])
    assert (kept.actor, kept.action, kept.details["name"], text in str(kept.details)) == (
        "bob",
        "token_created",
        "laptop",
        False,
    )


async def test_a_revoked_token_acts_for_nobody_and_only_its_person_revokes_it(service: Service) -> None:
    async with service.browser() as bob, service.browser() as dave:
        await sign_in(bob, "bob")
        await sign_in(dave, "dave")
        text = await made(bob)
        await made(dave)
        (row, _) = await tokens(service)
        where = f"/tokens/{row.id}/revoke"
        assert (await dave.post(where, headers=OURS)).status_code == 404
        assert (await bob.post(where)).status_code == 403
        async with service.shared.database.read() as tx:
            assert await holder(tx, text, service.shared.clock()) is not None
        for _ in range(2):
            assert (await bob.post(where, headers=OURS)).status_code == 303
        assert "laptop" not in (await bob.get("/tokens")).text
    async with service.shared.database.read() as tx:
        assert await holder(tx, text, service.shared.clock()) is None
        acts = (await tx.execute(select(Audit.action).where(Audit.actor == "bob"))).scalars().all()
    assert acts == ["token_created", "token_revoked"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": " "}, "needs a name"),
        ({"name": "x" * 101}, "needs a name"),
        ({"scope": []}, "needs a scope"),
        ({"scope": ["admin"]}, "no scope"),
        ({"days": "0"}, "lasts 1 to 365 days"),
        ({"days": "366"}, "lasts 1 to 365 days"),
        ({"days": "٣"}, "whole number"),
        ({"name": "x" * 300_000}, "are allowed"),
    ],
)
async def test_a_token_that_cannot_be_is_refused_in_words(
    service: Service, change: dict[str, str | list[str]], said: str
) -> None:
    async with service.browser() as bob:
        await sign_in(bob, "bob")
        refused = await bob.post("/tokens", data=FORM | change, headers=OURS)
    assert (refused.status_code, said in refused.text) == (400, True), refused.text
    assert await tokens(service) == []


async def test_a_form_from_elsewhere_or_of_nobody_makes_none(service: Service) -> None:
    async with service.browser() as bob, service.browser() as nobody:
        await sign_in(bob, "bob")
        assert (await bob.post("/tokens", data=FORM, headers={"origin": "https://evil.example"})).status_code == 403
        assert (await nobody.post("/tokens", data=FORM, headers=OURS)).headers["location"].startswith("/signin")
    assert await tokens(service) == []
