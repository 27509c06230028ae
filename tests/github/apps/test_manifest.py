import json

import httpx
import pytest

from github.apps.manifest import EVENTS, convert, form_url, manifest
from github.client.addresses import Addresses
from github.client.errors import GitHubError, NotFound
from github.client.scopes import _WANTED
from github.webhooks.events import WANTED

BACK = "http://127.0.0.1:8000/created"
GITHUB = Addresses.of("https://api.github.com")


def test_the_manifest_asks_for_what_the_scopes_need_and_no_more() -> None:
    asked = manifest("https://loop.example.com/", redirect_url=BACK)["default_permissions"]
    needed: dict[str, set[str]] = {}
    for permissions in _WANTED.values():
        for name, level in permissions.items():
            needed.setdefault(name, set()).add(level)
    highest = {name: "write" if "write" in levels else "read" for name, levels in needed.items()}
    assert {**asked, "workflows": "write"} == highest
    assert manifest("https://x.example", redirect_url=BACK, workflows=True)["default_permissions"] == highest


def test_the_manifest_subscribes_to_every_event_that_is_wanted() -> None:
    always_sent = {"installation", "installation_repositories"}
    assert set(EVENTS) == set(WANTED) - always_sent


def test_the_addresses_in_the_manifest_are_those_of_the_service() -> None:
    found = manifest("https://loop.example.com/", redirect_url=BACK)
    assert found["hook_attributes"]["url"] == "https://loop.example.com/webhooks/github"
    assert found["redirect_url"] == BACK
    json.dumps(found)


@pytest.mark.parametrize("url", ["loop.example.com", "", "ftp://x", "https://"])
def test_an_address_that_github_would_refuse_is_refused_first(url: str) -> None:
    with pytest.raises(ValueError, match="no http"):
        manifest(url, redirect_url=BACK)


def test_the_form_goes_to_the_persons_or_the_organisations_settings() -> None:
    assert form_url(GITHUB, state="a b") == "https://github.com/settings/apps/new?state=a%20b"
    wanted = "https://ghe.example.com/organizations/acme/settings/apps/new?state=s"
    assert form_url(Addresses.of("https://ghe.example.com/api/v3"), state="s", organisation="acme") == wanted


async def test_the_code_is_exchanged_for_the_app_whose_secrets_stay_out_of_repr() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/good/conversions"):
            return httpx.Response(404, json={"message": "Not Found"})
        found = {
            "id": 7,
            "slug": "loop",
            "name": "Loop",
            "html_url": "https://github.com/apps/loop",
            "client_id": "Iv1",
        }
        secrets = {"client_secret": "hush-1", "webhook_secret": None, "pem": "hush-2"}
        return httpx.Response(201, json=found | secrets)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        app = await convert(GITHUB, "good", http=http)
        assert (app.app_id, app.install_url) == (7, "https://github.com/apps/loop/installations/new")
        assert (app.private_key, app.webhook_secret) == ("hush-2", "")
        assert "hush" not in repr(app)
        with pytest.raises(NotFound):
            await convert(GITHUB, "used", http=http)
        with pytest.raises(GitHubError, match="malformed"):
            await convert(GITHUB, "../../user", http=http)


@pytest.mark.parametrize(
    ("api", "graphql", "web"),
    [
        ("https://api.github.com", "https://api.github.com/graphql", "https://github.com"),
        ("https://ghe.example.com/api/v3/", "https://ghe.example.com/api/graphql", "https://ghe.example.com"),
        ("https://api.acme.ghe.com", "https://api.acme.ghe.com/graphql", "https://acme.ghe.com"),
        ("http://127.0.0.1:9", "http://127.0.0.1:9/graphql", "http://127.0.0.1:9"),
    ],
)
def test_every_kind_of_github_has_its_addresses(api: str, graphql: str, web: str) -> None:
    found = Addresses.of(api)
    assert (found.graphql, found.web) == (graphql, web)
    assert Addresses.of(api, "https://web.example/").web == "https://web.example"


@pytest.mark.parametrize("api", ["", "github.com", "ssh://x", "https://"])
def test_what_is_no_api_address_is_refused(api: str) -> None:
    with pytest.raises(ValueError, match="no API URL"):
        Addresses.of(api)
