import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from githubkit.auth import TokenAuthStrategy

from github.client.app import GitHubApp
from github.client.clock import Clock
from github.client.errors import (
    InstallationSuspended,
    NotFound,
    PermissionMissing,
    RateLimited,
    ServerFault,
    Unauthorized,
)
from github.client.repository import RepositoryHandle
from github.client.scopes import CLONE, Scope
from github.emulator.local import LocalGitHub
from github.emulator.options import EmulatorOptions
from github.repositories.queries import facts
from tests.github.conftest import Connect, Spot, TestClock


@pytest.fixture
def calls(local: LocalGitHub) -> list[tuple[str, str, int]]:
    """Every REST answer of the local GitHub: method, route, status."""
    seen: list[tuple[str, str, int]] = []
    local.observe(answers=lambda route, method, status, _body, _version: seen.append((method, route, status)))
    return seen


MINT = "/app/installations/{installation_id}/access_tokens"


async def test_the_app_knows_who_it_is_and_its_commit_address(local: LocalGitHub, app: GitHubApp) -> None:
    me = await app.identity()
    assert (me.app_id, me.slug, me.login) == (local.app.id, "greenloop", "greenloop[bot]")
    assert me.bot_id == local.app.bot.id
    assert me.email == f"{local.app.bot.id}+greenloop[bot]@users.noreply.github.com"
    assert me.permissions["contents"] == "write"


async def test_the_app_knows_its_installations_and_their_repositories(spot: Spot, app: GitHubApp) -> None:
    (ours,) = [each for each in await app.installations() if each.account == spot.owner]
    assert (ours.id, ours.suspended) == (spot.installation.id, False)
    spot.local.add_repository(f"{spot.owner}/other")
    names = [each["full_name"] async for each in app.repositories(ours.id)]
    assert names == [spot.name]


async def test_all_pages_of_installations_are_read(local: LocalGitHub, app: GitHubApp) -> None:
    for number in range(105):
        local.add_user(f"u{number}")
        local.install(f"u{number}")
    assert len(await app.installations()) > 104


async def test_a_token_is_for_one_repository_and_no_more_than_asked(spot: Spot, repository: RepositoryHandle) -> None:
    spot.local.install(spot.owner)
    token = await repository.app.mint(repository.installation_id, [repository.id], CLONE)
    assert dict(token.permissions) == {"contents": "read", "metadata": "read"}
    assert token.value not in repr(token)
    url = repository.app.transport.url("installation/repositories")
    seen = (await repository.app.transport.send("GET", url, auth=TokenAuthStrategy(token.value))).json()
    assert [each["id"] for each in seen["repositories"]] == [repository.id]
    assert 3500 < token.expires_at - repository.app.clock.now() <= 3600


async def test_a_revoked_token_no_longer_works_and_revoking_twice_is_fine(repository: RepositoryHandle) -> None:
    app = repository.app
    token = await app.mint(repository.installation_id, [repository.id], CLONE)
    url = app.transport.url(f"repositories/{repository.id}")
    assert (await app.transport.send("GET", url, auth=TokenAuthStrategy(token.value))).status == 200
    await app.revoke(token.value)
    with pytest.raises(Unauthorized):
        await app.transport.send("GET", url, auth=TokenAuthStrategy(token.value))
    await app.revoke(token.value)


async def test_fifty_cold_requests_mint_one_token(
    repository: RepositoryHandle, calls: list[tuple[str, str, int]]
) -> None:
    await asyncio.gather(*(facts(repository) for _ in range(50)))
    assert calls.count(("POST", MINT, 201)) == 1


async def test_a_token_is_minted_anew_shortly_before_its_end(
    repository: RepositoryHandle, calls: list[tuple[str, str, int]]
) -> None:
    clock = repository.app.clock
    assert isinstance(clock, TestClock)
    await facts(repository)
    clock.advance(3200)
    await facts(repository)
    assert calls.count(("POST", MINT, 201)) == 1
    clock.advance(150)
    await facts(repository)
    assert calls.count(("POST", MINT, 201)) == 2


async def test_a_token_that_github_forgot_is_replaced_once(
    local: LocalGitHub, repository: RepositoryHandle, calls: list[tuple[str, str, int]]
) -> None:
    await facts(repository)
    assert isinstance(repository.app.clock, TestClock)
    repository.app.clock.advance(60)
    for token in local.store.tokens.values():
        token.revoked = True
    await facts(repository)
    assert calls.count(("POST", MINT, 201)) == 2


async def test_a_fresh_token_is_allowed_seconds_to_be_known_everywhere(
    local: LocalGitHub, repository: RepositoryHandle, calls: list[tuple[str, str, int]]
) -> None:
    local.add_fault("token_lag", calls=3)
    await facts(repository)
    assert isinstance(repository.app.clock, TestClock)
    assert repository.app.clock.slept == [1.0, 2.0, 4.0]
    assert calls.count(("POST", MINT, 201)) == 1


async def test_a_permission_that_the_token_lacks_is_not_waited_for(local: LocalGitHub, connect: Connect) -> None:
    row = local.add_repository(f"poor{len(list(local.store.users))}/app")
    installation = local.install(row.owner.login, ["app"], permissions={"metadata": "read", "contents": "read"})
    app = connect()
    poor = RepositoryHandle(app, installation.id, row.id)
    with pytest.raises(PermissionMissing) as caught:
        await poor.request("POST", "issues/1/comments", scope=Scope.TALK, json={"body": "x"})
    assert "write" in caught.value.needed
    assert isinstance(app.clock, TestClock)
    assert app.clock.slept == []


async def test_permissions_accepted_later_are_used(local: LocalGitHub, connect: Connect) -> None:
    row = local.add_repository(f"poor{len(list(local.store.users))}/app")
    installation = local.install(row.owner.login, ["app"], permissions={"metadata": "read", "contents": "read"})
    app = connect()
    poor = RepositoryHandle(app, installation.id, row.id)
    with pytest.raises(PermissionMissing):
        await poor.request("GET", "issues/1/comments")
    installation.permissions["issues"] = "read"
    assert isinstance(app.clock, TestClock)
    app.clock.advance(61)
    with pytest.raises(NotFound):
        await poor.request("GET", "issues/1/comments")


async def test_a_suspended_installation_says_so(spot: Spot, repository: RepositoryHandle) -> None:
    spot.installation.suspended_at = spot.local.hub.clock.now()
    with pytest.raises(InstallationSuspended, match="unsuspend"):
        await facts(repository)


async def test_a_repository_outside_the_installation_cannot_be_asked_for(spot: Spot, app: GitHubApp) -> None:
    other = spot.local.add_repository(f"{spot.owner}/other")
    with pytest.raises(NotFound, match="not accessible"):
        await facts(RepositoryHandle(app, spot.installation.id, other.id))


async def test_an_installation_that_is_gone_is_not_found(app: GitHubApp) -> None:
    with pytest.raises(NotFound):
        await facts(RepositoryHandle(app, 4711, 4712))


async def test_another_apps_key_is_refused_with_the_way_out(local: LocalGitHub, connect: Connect) -> None:
    other = local.add_app("other")
    app = connect(other.private_key)
    with pytest.raises(Unauthorized, match="private key"):
        await app.identity()


def test_a_key_that_is_none_is_refused_at_once() -> None:
    for key in ("", "nonsense", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----"):
        with pytest.raises(ValueError, match="download a new one"):
            GitHubApp(1, key)


async def test_a_clock_that_is_wrong_by_an_hour_is_corrected() -> None:
    class Skewed(Clock):
        skew = 0

        def now(self) -> float:
            return super().now() + self.skew

    clock = Skewed()
    async with LocalGitHub() as local:
        local.add_repository("octo/app")
        installation = local.install("octo")
        for skew in (-3600, 3600):
            clock.skew = skew
            app = GitHubApp(local.app.id, local.app.private_key, api_url=local.api_url, clock=clock)
            assert (await app.identity()).slug == "greenloop"
            token = await app.mint(installation.id, [], CLONE)
            assert 3500 < token.expires_at - clock.now() < 3700
            await app.aclose()


async def test_gets_are_tried_again_on_5xx_and_posts_are_not(
    local: LocalGitHub, repository: RepositoryHandle, calls: list[tuple[str, str, int]]
) -> None:
    await facts(repository)
    local.add_fault("error", method="GET", path="/repos/*", status=502, times=2)
    await repository.get("")
    local.add_fault("error", method="POST", path="/repos/*", status=502, times=1)
    with pytest.raises(ServerFault):
        await repository.request("POST", "issues/1/comments", scope=Scope.TALK, json={"body": "x"})
    assert [status for method, _route, status in calls if method == "POST"].count(502) <= 1


async def test_a_secondary_limit_is_told_with_its_end_and_nothing_is_sent_before(
    local: LocalGitHub, repository: RepositoryHandle, calls: list[tuple[str, str, int]]
) -> None:
    await facts(repository)
    local.add_fault("secondary_limit", retry_after=30, times=1, status=403)
    with pytest.raises(RateLimited) as caught:
        await repository.get("")
    assert caught.value.secondary
    clock = repository.app.clock
    assert isinstance(clock, TestClock)
    assert 29 <= caught.value.retry_at - clock.now() <= 31
    sent = len(calls)
    with pytest.raises(RateLimited, match="not sent"):
        await repository.get("")
    assert len(calls) == sent
    clock.advance(31)
    await repository.get("")


async def test_a_primary_limit_ends_at_the_reset(local: LocalGitHub, repository: RepositoryHandle) -> None:
    await facts(repository)
    local.add_fault("primary_limit", times=1)
    with pytest.raises(RateLimited) as caught:
        await repository.get("")
    assert not caught.value.secondary
    assert caught.value.retry_at > repository.app.clock.now()


async def test_a_limit_of_one_installation_does_not_stop_another(
    local: LocalGitHub, spot: Spot, repository: RepositoryHandle
) -> None:
    row = local.add_repository("second/app")
    other = RepositoryHandle(repository.app, local.install("second", ["app"]).id, row.id)
    await facts(repository)
    local.add_fault("secondary_limit", path=f"/repos/{spot.owner}/*", times=1)
    with pytest.raises(RateLimited):
        await repository.get("")
    await facts(other)


async def test_asking_again_is_conditional_and_costs_no_rate_limit(
    repository: RepositoryHandle, calls: list[tuple[str, str, int]]
) -> None:
    first = await facts(repository)
    assert await facts(repository) == first
    assert ("GET", "/repos/{owner}/{repo}", 304) in calls


async def test_a_renamed_repository_is_followed_for_reads_and_writes(spot: Spot, repository: RepositoryHandle) -> None:
    assert (await facts(repository)).full_name == spot.name
    number = await spot.issue()
    await spot.act(spot.owner, "PATCH", "", name="renamed")
    body = {"body": "x"}
    answer = await repository.request("POST", f"issues/{number}/comments", scope=Scope.TALK, json=body)
    assert (answer.status, answer.json()["body"]) == (201, "x")
    assert await repository.full_name() == f"{spot.owner}/renamed"
    assert (await facts(repository)).full_name == f"{spot.owner}/renamed"


async def test_another_repository_under_the_old_name_is_not_taken_for_ours(
    spot: Spot, repository: RepositoryHandle
) -> None:
    await facts(repository)
    await spot.act(spot.owner, "PATCH", "", name="renamed")
    spot.local.add_repository(spot.name)
    assert isinstance(repository.app.clock, TestClock)
    repository.app.clock.advance(31)
    assert (await facts(repository)).id == spot.row.id


async def test_on_enterprise_server_the_api_is_below_api_v3() -> None:
    async with LocalGitHub(options=EmulatorOptions(enterprise=True)) as local:
        row = local.add_repository("octo/app")
        installation = local.install("octo", ["app"])
        app = GitHubApp(local.app.id, local.app.private_key, api_url=local.api_url + "/", clock=TestClock(local))
        assert (await facts(RepositoryHandle(app, installation.id, row.id))).full_name == "octo/app"
        assert app.addresses.api == local.web_url + "/api/v3"
        assert app.addresses.graphql == local.web_url + "/api/graphql"
        assert app.addresses.git("octo/app") == local.web_url + "/octo/app.git"
        await app.aclose()


async def test_the_api_version_is_the_configured_one(local: LocalGitHub, connect: Connect) -> None:
    seen: list[str] = []
    local.observe(answers=lambda _route, _method, _status, _body, version: seen.append(version))
    for version in ("2022-11-28", "2026-03-10"):
        app = connect(api_version=version)
        await app.identity()
        assert seen[-1] == version


@pytest.fixture
async def recorded() -> AsyncIterator[tuple[httpx.AsyncClient, list[httpx.Request]]]:
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json={"id": 1, "slug": "x"}, request=request)

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    yield client, sent
    await client.aclose()


async def test_every_request_names_us_and_the_version(recorded: Any, local: LocalGitHub) -> None:
    http, sent = recorded
    app = GitHubApp(1, local.app.private_key, http=http, clock=TestClock())
    await app.identity()
    assert sent[0].headers["user-agent"].startswith("greenloop/")
    assert sent[0].headers["x-github-api-version"] == "2022-11-28"
    assert sent[0].headers["accept"] == "application/vnd.github+json"
    assert sent[0].headers["authorization"].startswith("Bearer ey")
