"""An App proves who it is, and its tokens reach exactly as far as they were asked to."""

import json
import re
from typing import Any

import httpx
import pytest

from tests.github.emulator.house import REPO, House, app_jwt


@pytest.mark.parametrize(
    ("claims", "status", "text"),
    [
        ({}, 200, None),
        ({"exp": 10_000_000_000}, 401, "'Expiration time' claim ('exp') is too far in the future"),
        ({"exp": 1}, 401, "must be a numeric value representing the future time"),
        ({"iat": 10_000_000_000}, 401, "'Issued at' claim ('iat') must be an Integer"),
        ({"iss": "999"}, 404, "Integration not found"),
    ],
)
async def test_a_jwt_is_checked_with_githubs_words(
    house: House, claims: dict[str, Any], status: int, text: str | None
) -> None:
    answer = await house.ask("GET", "/app", app_jwt(house.local, **claims))
    assert answer.status_code == status
    assert text is None or text in answer.json()["message"]


async def test_a_jwt_signed_by_another_key_is_refused(house: House) -> None:
    other = house.local.add_app("other")
    house.local.app, mine = other, house.local.app
    forged = app_jwt(house.local, iss=str(mine.id))
    answer = await house.ask("GET", "/app", forged)
    assert (answer.status_code, answer.json()["message"]) == (401, "A JSON web token could not be decoded")


async def test_both_shapes_of_token_are_minted_and_work(house: House) -> None:
    path = f"/app/installations/{house.installation.id}/access_tokens"
    for wish, shape in (("enabled", r"ghs_\d+_[\w-]+\.[\w-]+\.[\w-]+"), ("disabled", r"ghs_\w{36}")):
        headers = {"X-GitHub-Stateless-S2S-Token": wish}
        token = (await house.ask("POST", path, app_jwt(house.local), headers=headers)).json()["token"]
        assert re.fullmatch(shape, token)
        assert (len(token) > 450) is (wish == "enabled")
        assert (await house.ask("GET", REPO, token)).status_code == 200


async def test_a_token_is_no_wider_than_asked_for(house: House) -> None:
    other = house.local.add_repository("acme/other")
    house.installation.selected = None
    token = await house.token(repository_ids=[other.id], permissions={"issues": "read"})
    assert (await house.ask("GET", REPO, token)).status_code == 404
    assert (await house.ask("GET", "/repos/acme/other/issues", token)).status_code == 200
    write = await house.ask("POST", "/repos/acme/other/issues", token, json={"title": "t"})
    assert (write.status_code, write.json()["message"]) == (403, "Resource not accessible by integration")
    assert write.headers["x-accepted-github-permissions"] == "issues=write"
    listed = (await house.ask("GET", "/installation/repositories", token)).json()
    assert [row["full_name"] for row in listed["repositories"]] == ["acme/other"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"permissions": {"administration": "write"}}, "permissions requested are not granted"),
        ({"repositories": ["nowhere"]}, "at least one repository that does not exist"),
    ],
)
async def test_more_than_the_installation_has_is_refused(house: House, body: dict[str, Any], text: str) -> None:
    path = f"/app/installations/{house.installation.id}/access_tokens"
    answer = await house.ask("POST", path, app_jwt(house.local), json=body)
    assert answer.status_code == 422 and text in answer.json()["message"]


async def test_a_token_ends_by_revocation_by_age_and_with_its_installation(house: House) -> None:
    token, old = await house.token(), await house.token()
    assert (await house.ask("DELETE", "/installation/token", token)).status_code == 204
    assert (await house.ask("GET", REPO, token)).json()["message"] == "Bad credentials"
    house.local.hub.clock.advance(3601)
    assert (await house.ask("GET", REPO, old)).status_code == 401
    path = f"/app/installations/{house.installation.id}"
    fresh = await house.token()
    assert (await house.ask("PUT", f"{path}/suspended", app_jwt(house.local))).status_code == 204
    for answer in (
        await house.ask("GET", REPO, fresh),
        await house.ask("POST", f"{path}/access_tokens", app_jwt(house.local)),
    ):
        assert (answer.status_code, answer.json()["message"]) == (403, "This installation has been suspended")
    assert (await house.ask("DELETE", f"{path}/suspended", app_jwt(house.local))).status_code == 204
    assert (await house.ask("GET", REPO, fresh)).status_code == 200
    assert (await house.ask("DELETE", path, app_jwt(house.local))).status_code == 204
    assert (await house.ask("GET", REPO, fresh)).status_code == 401
    assert {"installation-suspend", "installation-unsuspend", "installation-deleted"} <= house.watch.events


async def test_a_fresh_token_can_lag(house: House) -> None:
    house.local.add_fault("token_lag", calls=2)
    token = await house.token()
    assert [(await house.ask("GET", REPO, token)).status_code for _ in range(3)] == [401, 401, 200]


async def test_an_app_is_made_by_its_manifest_and_installed_on_pages(house: House) -> None:
    web = house.local.web_url
    wanted = {
        "name": "My Bot",
        "url": "http://bot.example",
        "redirect_url": "http://bot.example/created",
        "setup_url": "http://bot.example/installed",
        "hook_attributes": {"url": "http://127.0.0.1:9/hooks"},
        "default_permissions": {"issues": "write"},
        "default_events": ["issues"],
    }
    shown = await house.http.post("/settings/apps/new?state=s1", data={"manifest": json.dumps(wanted)})
    assert "issues: write" in shown.text and "My Bot" in shown.text
    form = {"manifest": json.dumps(wanted), "state": "s1", "owner": "alice"}
    away = httpx.URL(
        (await house.http.post("/settings/apps/create", data=form, headers={"Origin": web})).headers["location"]
    )
    assert (away.host, away.params["state"]) == ("bot.example", "s1")
    path = f"/app-manifests/{away.params['code']}/conversions"
    made = await house.ask("POST", path, None)
    assert made.status_code == 201
    body = made.json()
    assert body["slug"] == "my-bot" and body["webhook_secret"] and body["pem"].startswith("-----BEGIN RSA")
    assert (await house.ask("POST", path, None)).status_code == 404
    assert "ping" in house.watch.events
    install = f"{httpx.URL(body['html_url']).path}/installations/new"
    assert "acme" in (await house.http.get(install)).text
    done = await house.http.post(install, data={"owner": "acme", "repository": "widgets"}, headers={"Origin": web})
    assert httpx.URL(done.headers["location"]).params["setup_action"] == "install"
