"""Signing people in, at the local GitHub."""

from collections.abc import AsyncIterator
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest

from github.apps.signin import Flow, SignIn, SignInRefused
from github.client.addresses import Addresses
from github.client.errors import Unauthorized
from github.emulator.local import LocalGitHub
from tests.github.conftest import Spot, TestClock

CALLBACK = "http://greenloop.test/signin/callback"


async def agree(address: str, login: str) -> dict[str, str]:
    """What the person's browser does: fill in the form that GitHub shows, and come back."""
    form = dict(parse_qsl(urlsplit(address).query)) | {"user": login, "answer": "authorize"}
    async with httpx.AsyncClient() as http:
        back = await http.post(address.partition("?")[0], data=form)
    return dict(parse_qsl(urlsplit(back.headers["location"]).query))


@pytest.fixture
async def signin(local: LocalGitHub) -> AsyncIterator[SignIn]:
    local.set_callback(CALLBACK)
    made = SignIn(Addresses.of(local.api_url), local.app.client_id, local.app.client_secret, clock=TestClock(local))
    yield made
    await made.aclose()


async def test_a_person_signs_in_is_known_and_sees_what_they_have_a_role_in(signin: SignIn, spot: Spot) -> None:
    spot.local.add_repository(f"{spot.owner}/hidden")
    flow = Flow.begin()
    back = await agree(signin.address(flow, CALLBACK), "bob")
    assert back["state"] == flow.state
    made = await signin.exchange(back["code"], flow, CALLBACK)
    assert await signin.who(made.token) == (spot.local.user("bob").id, "bob")
    seen = await signin.repositories(made.token)
    assert spot.row.id in seen
    assert spot.local.repository(f"{spot.owner}/hidden").id not in seen
    assert made.token not in repr(made)


async def test_the_address_carries_the_challenge_and_never_the_verifier_or_the_secret(
    signin: SignIn, local: LocalGitHub
) -> None:
    flow = Flow.begin()
    address = signin.address(flow, CALLBACK)
    query = parse_qs(urlsplit(address).query)
    assert query["code_challenge_method"] == ["S256"] and query["code_challenge"] == [flow.challenge]
    assert flow.verifier not in address and local.app.client_secret not in address


async def test_a_code_of_another_browser_is_refused_in_githubs_words(signin: SignIn, spot: Spot) -> None:
    back = await agree(signin.address(Flow.begin(), CALLBACK), "bob")
    with pytest.raises(SignInRefused, match="incorrect or expired"):
        await signin.exchange(back["code"], Flow.begin(), CALLBACK)


async def test_a_token_that_was_ended_is_no_longer_believed(signin: SignIn, spot: Spot) -> None:
    flow = Flow.begin()
    made = await signin.exchange((await agree(signin.address(flow, CALLBACK), "bob"))["code"], flow, CALLBACK)
    await signin.end(made.token)
    await signin.end(made.token)
    with pytest.raises(Unauthorized):
        await signin.repositories(made.token)
