"""A person lets the App act for them, as GitHub's web flow does it."""

import base64
import hashlib
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import pytest

from tests.github.emulator.house import REPO, House

CALLBACK = "https://greenloop.example.com/signin/callback"
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
JSON = {"Accept": "application/json"}


async def asked(house: House, **more: str) -> httpx.Response:
    house.local.set_callback(CALLBACK)
    query = {"client_id": house.local.app.client_id, "redirect_uri": CALLBACK, "state": "s", **more}
    return await house.http.get(f"{house.local.web_url}/login/oauth/authorize?{urlencode(query)}")


async def answered(house: House, answer: str = "authorize", user: str = "bob", **more: str) -> dict[str, str]:
    """Fill in the form; the query that the browser brings back."""
    house.local.set_callback(CALLBACK)
    form = {"client_id": house.local.app.client_id, "redirect_uri": CALLBACK, "state": "s", "user": user, **more}
    url = f"{house.local.web_url}/login/oauth/authorize"
    back = await house.http.post(url, data={**form, "answer": answer}, headers={"Origin": house.local.web_url})
    assert back.status_code == 302, back.text
    assert back.headers["location"].startswith(CALLBACK + "?")
    return dict(parse_qsl(urlsplit(back.headers["location"]).query))


async def exchanged(house: House, code: str, **more: str) -> dict[str, Any]:
    app = house.local.app
    form = {"client_id": app.client_id, "client_secret": app.client_secret, "code": code, **more}
    answer = await house.http.post(f"{house.local.web_url}/login/oauth/access_token", data=form, headers=JSON)
    assert answer.status_code == 200, "errors too are answered with 200"
    found: dict[str, Any] = answer.json()
    return found


async def signed_in(house: House, user: str) -> str:
    return str((await exchanged(house, (await answered(house, user=user))["code"]))["access_token"])


async def test_the_page_says_who_asks_and_a_wrong_address_is_never_gone_to(house: House) -> None:
    shown = await asked(house, code_challenge=CHALLENGE, code_challenge_method="S256")
    assert shown.status_code == 200 and "greenloop" in shown.text and CHALLENGE in shown.text
    wrong = await asked(house, redirect_uri="https://evil.example/signin/callback")
    assert wrong.headers["location"].startswith(CALLBACK + "?error=redirect_uri_mismatch")
    assert (await asked(house, client_id="Iv1.unknown")).status_code == 404


async def test_a_code_becomes_a_token_of_that_person_once(house: House) -> None:
    back = await answered(house, code_challenge=CHALLENGE)
    assert back["state"] == "s"
    token = await exchanged(house, back["code"], code_verifier=VERIFIER, redirect_uri=CALLBACK)
    assert token["access_token"].startswith("ghu_") and token["expires_in"] == 28800
    me = (await house.ask("GET", "/user", token["access_token"])).json()
    assert (me["login"], me["id"]) == ("bob", house.bob.id)
    assert (await exchanged(house, back["code"], code_verifier=VERIFIER))["error"] == "bad_verification_code"


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"code_verifier": "w" * 43}, "bad_verification_code"),
        ({}, "bad_verification_code"),
        ({"code_verifier": VERIFIER, "client_secret": "wrong"}, "incorrect_client_credentials"),
        ({"code_verifier": VERIFIER, "redirect_uri": f"{CALLBACK}/other"}, "redirect_uri_mismatch"),
        ({"code_verifier": VERIFIER, "code": "0" * 20}, "bad_verification_code"),
    ],
)
async def test_what_does_not_fit_is_refused_in_githubs_words(house: House, more: dict[str, str], error: str) -> None:
    code = (await answered(house, code_challenge=CHALLENGE))["code"]
    assert (await exchanged(house, **{"code": code, **more}))["error"] == error


async def test_a_code_lasts_ten_minutes_and_a_token_eight_hours(house: House) -> None:
    code = (await answered(house))["code"]
    token = await signed_in(house, "bob")
    house.local.hub.clock.advance(601)
    assert (await exchanged(house, code))["error"] == "bad_verification_code"
    assert (await house.ask("GET", "/user", token)).status_code == 200
    house.local.hub.clock.advance(8 * 3600)
    assert (await house.ask("GET", "/user", token)).status_code == 401


async def test_a_person_may_say_no_and_another_site_cannot_say_yes(house: House) -> None:
    assert (await answered(house, "cancel"))["error"] == "access_denied"
    form = {"client_id": house.local.app.client_id, "redirect_uri": CALLBACK, "user": "bob", "answer": "authorize"}
    url = f"{house.local.web_url}/login/oauth/authorize"
    assert (await house.http.post(url, data=form, headers={"Origin": "http://evil.example"})).status_code == 422


async def test_a_persons_token_lists_what_they_and_the_app_both_reach(house: House) -> None:
    house.local.add_repository("acme/open", private=False)
    house.installation.selected = None
    bob, dave = await signed_in(house, "bob"), await signed_in(house, house.local.add_user("dave").login)
    [installation] = (await house.ask("GET", "/user/installations", bob)).json()["installations"]
    path = f"/user/installations/{installation['id']}/repositories"
    listed = (await house.ask("GET", path, bob)).json()
    assert [row["full_name"] for row in listed["repositories"]] == ["acme/widgets"], "public alone is no role"
    assert (await house.ask("GET", "/user/installations", dave)).json()["installations"] == []
    assert (await house.ask("GET", path, dave)).status_code == 404
    assert (await house.ask("GET", "/user/installations", house.bob)).status_code == 403
    assert (await house.ask("POST", f"{REPO}/issues", bob, json={"title": "t"})).status_code == 403


async def test_the_app_ends_a_persons_token(house: House) -> None:
    token, app = await signed_in(house, "bob"), house.local.app
    path = f"/applications/{app.client_id}/token"
    wrong = await house.http.request("DELETE", path, auth=(app.client_id, "no"), json={"access_token": token})
    assert wrong.status_code == 401
    right = (app.client_id, app.client_secret)
    ended = await house.http.request("DELETE", path, auth=right, json={"access_token": token})
    assert ended.status_code == 204
    assert (await house.ask("GET", "/user", token)).status_code == 401
    again = await house.http.request("DELETE", path, auth=right, json={"access_token": token})
    assert again.status_code == 422
