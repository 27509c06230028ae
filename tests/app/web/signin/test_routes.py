from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from app.web.signin import readers
from tests.app.web.signin.conftest import PUBLIC, Service, agree, sign_in


async def test_a_person_signs_in_and_sees_the_sessions_of_repositories_they_have_a_role_in(service: Service) -> None:
    async with service.browser() as browser:
        back = await sign_in(browser, "bob", "/sessions/s_widgets")
        assert (back.status_code, back.headers["location"]) == (303, "/sessions/s_widgets")
        shown = await browser.get("/sessions/s_widgets")
        assert shown.status_code == 200 and "Work on acme/widgets" in shown.text and "bob" in shown.text
        index = (await browser.get("/")).text
        assert "s_widgets" in index and "s_open" not in index
        for path in ("/sessions/s_open", "/sessions/s_open/events"):
            assert (await browser.get(path)).status_code == 404, "that it is public is no role"


async def test_a_person_without_a_role_sees_no_session(service: Service) -> None:
    async with service.browser() as browser:
        await sign_in(browser, "dave")
        assert "No session yet" in (await browser.get("/")).text
        assert (await browser.get("/sessions/s_widgets")).status_code == 404


@pytest.mark.parametrize("path", ["/", "/sessions/s_widgets", "/sessions/s_none", "/sessions/s_widgets?before=3"])
async def test_a_page_leads_to_github_and_says_nothing_before(service: Service, path: str) -> None:
    async with service.browser() as browser:
        answer = await browser.get(path)
        assert answer.status_code == 303 and "widgets" not in answer.text
        assert answer.headers["location"].startswith("/signin?next=/")
        begun = await browser.get("/signin")
        query = parse_qs(urlsplit(begun.headers["location"]).query)
        assert begun.headers["location"].startswith(f"{service.local.web_url}/login/oauth/authorize?")
        assert query["redirect_uri"] == [f"{PUBLIC}/signin/callback"] and query["code_challenge_method"] == ["S256"]


async def test_a_live_stream_is_refused_to_who_is_not_signed_in(service: Service) -> None:
    async with service.browser() as browser:
        assert (await browser.get("/sessions/s_widgets/events")).status_code == 401
        assert (
            await browser.get("/sessions/s_widgets/events", headers={"cookie": "__Host-greenloop=x"})
        ).status_code == 401


async def test_the_cookie_is_out_of_reach_and_holds_no_token_that_can_be_read(service: Service) -> None:
    async with service.browser() as browser:
        answer = await sign_in(browser, "bob")
        cookie = next(value for value in answer.headers.get_list("set-cookie") if value.startswith("__Host-greenloop="))
        for part in ("httponly", "secure", "samesite=lax", "path=/"):
            assert part in cookie.lower()
        assert "domain" not in cookie.lower()
        [token] = [each.token for each in service.local.store.user_tokens.values()]
        assert token not in answer.text + str(answer.headers)


async def test_a_code_counts_only_in_the_browser_that_began(service: Service) -> None:
    async with service.browser() as mine, service.browser() as other:
        begun = await mine.get("/signin")
        back = await agree(begun.headers["location"], "bob")
        assert (await other.get(back)).status_code == 400
        await other.get("/signin")
        assert (await other.get(back)).status_code == 400, "a flow of its own has another state"
        assert (await mine.get(back)).status_code == 303
        assert (await mine.get(back)).status_code == 400, "a second time it is used up"


async def test_who_says_no_at_github_reads_so_and_is_not_signed_in(service: Service) -> None:
    async with service.browser() as browser:
        begun = await browser.get("/signin")
        answer = await browser.get(await agree(begun.headers["location"], "bob", "cancel"))
        assert answer.status_code == 403 and "denied your application access" in answer.text
        assert (await browser.get("/")).status_code == 303


@pytest.mark.parametrize(
    "place", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nb", "javascript:x"]
)
async def test_nobody_is_led_elsewhere_after_signing_in(service: Service, place: str) -> None:
    async with service.browser() as browser:
        begun = await browser.get("/signin", params={"next": place})
        assert (await browser.get(await agree(begun.headers["location"], "bob"))).headers["location"] == "/"


async def test_who_signs_out_is_out_at_github_too(service: Service) -> None:
    async with service.browser() as browser:
        await sign_in(browser, "bob")
        answer = await browser.post("/signout", headers={"sec-fetch-site": "same-origin"})
        assert answer.status_code == 200 and "Signed out" in answer.text
        assert [each.revoked for each in service.local.store.user_tokens.values()] == [True]
        assert (await browser.get("/")).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "none"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {},
    ],
)
async def test_another_site_cannot_sign_a_person_out(service: Service, headers: dict[str, str]) -> None:
    async with service.browser() as browser:
        await sign_in(browser, "bob")
        assert (await browser.post("/signout", headers=headers)).status_code == 403
        assert (await browser.get("/")).status_code == 200


async def test_lost_access_and_ended_tokens_count_within_a_minute(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with service.browser() as browser:
        await sign_in(browser, "bob", "/sessions/s_widgets")
        assert (await browser.get("/sessions/s_widgets")).status_code == 200
        service.local.set_permission("acme/widgets", "bob", "none")
        assert (await browser.get("/sessions/s_widgets")).status_code == 200, "remembered for a minute"
        monkeypatch.setattr(readers, "MAX_AGE", 0.0)
        assert (await browser.get("/sessions/s_widgets")).status_code == 404
        for token in service.local.store.user_tokens.values():
            token.revoked = True
        assert (await browser.get("/sessions/s_widgets")).status_code == 303


async def test_while_github_is_away_nobody_sees_what_cannot_be_checked(service: Service) -> None:
    async with service.browser() as browser:
        await sign_in(browser, "bob")
        service.local.add_fault("error", status=502, path="/user/installations", times=20)
        answer = await browser.get("/sessions/s_widgets")
        assert answer.status_code == 503 and "Work on" not in answer.text


async def test_a_cookie_made_with_another_key_or_for_another_purpose_is_none(service: Service) -> None:
    async with service.browser() as browser:
        await browser.get("/signin")
        flow = browser.cookies["__Host-greenloop-signin"]
        answer = await browser.get("/", headers={"cookie": f"__Host-greenloop={flow}"})
        assert answer.status_code == 303


async def test_health_and_webhooks_need_no_sign_in(service: Service) -> None:
    async with service.browser() as browser:
        assert (await browser.get("/healthz")).status_code == 200
        refused: httpx.Response = await browser.post("/webhooks/github", content=b"{}")
        assert refused.status_code == 401
