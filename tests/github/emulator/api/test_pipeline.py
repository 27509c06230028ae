"""What every REST call has in common."""

import time

import httpx
import pytest

from github.emulator import EmulatorOptions, LocalGitHub
from tests.github.emulator.house import REPO, House


async def test_a_call_without_a_user_agent_or_with_an_unknown_version_is_refused(house: House) -> None:
    answer = await house.ask("GET", REPO, None, headers={"User-Agent": ""})
    assert answer.status_code == 403 and "User-Agent" in answer.json()["message"]
    answer = await house.ask("GET", REPO, None, headers={"X-GitHub-Api-Version": "2020-01-01"})
    assert answer.status_code == 400


async def test_what_a_caller_may_not_see_is_not_there(house: House) -> None:
    stranger = house.local.add_user("stranger")
    assert (await house.ask("GET", REPO, stranger)).status_code == 404
    assert (await house.ask("GET", REPO, None)).status_code == 404
    house.repository.private = False
    assert (await house.ask("GET", REPO, None)).status_code == 200
    assert (await house.ask("POST", f"{REPO}/issues", None, json={"title": "t"})).status_code == 401
    assert (await house.ask("POST", f"{REPO}/statuses/{'0' * 40}", stranger, json={})).status_code == 403
    assert (await house.ask("GET", "/nothing/here/at/all", None)).status_code == 404


async def test_an_unchanged_answer_is_304_and_costs_nothing(house: House) -> None:
    token = await house.token()
    first = await house.ask("GET", REPO, token)
    again = await house.ask("GET", REPO, token, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["x-ratelimit-used"] == first.headers["x-ratelimit-used"]
    await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": "t"})
    changed = await house.ask("GET", REPO, token, headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200


async def test_pages_link_by_the_repositorys_id_and_the_links_work(house: House) -> None:
    await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": "t"})
    for number in range(5):
        await house.ask("POST", f"{REPO}/issues/1/comments", house.bob, json={"body": f"c{number}"})
    seen: list[str] = []
    answer = await house.ask("GET", f"{REPO}/issues/1/comments?per_page=2", house.bob)
    while True:
        seen += [row["body"] for row in answer.json()]
        if "next" not in answer.links:
            break
        assert f"/repositories/{house.repository.id}/issues/1/comments" in answer.links["next"]["url"]
        answer = await house.ask("GET", answer.links["next"]["url"], house.bob)
    assert seen == [f"c{number}" for number in range(5)]
    assert {"prev", "first"} == set(answer.links)


async def test_an_old_name_redirects_reads_by_301_and_writes_by_307(house: House) -> None:
    renamed = await house.ask("PATCH", REPO, house.alice, json={"name": "gadgets"})
    assert renamed.json()["full_name"] == "acme/gadgets"
    read = await house.ask("GET", f"{REPO}/issues", house.bob)
    write = await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": "t"})
    assert (read.status_code, write.status_code) == (301, 307)
    assert read.headers["location"] == f"{house.local.api_url}/repositories/{house.repository.id}/issues"
    followed = await house.ask("POST", write.headers["location"], house.bob, json={"title": "t"})
    assert followed.status_code == 201
    assert house.git("ls-remote", house.clone_url(house.alice.token)).returncode == 0
    assert "repository-renamed" in house.watch.events


@pytest.mark.parametrize(("body", "text"), [(b"{", "Problems parsing JSON"), (b"3", "Body should be a JSON object")])
async def test_a_body_that_is_no_object_is_400(house: House, body: bytes, text: str) -> None:
    answer = await house.ask("POST", f"{REPO}/issues", house.bob, content=body)
    assert (answer.status_code, answer.json()["message"]) == (400, text)


async def test_an_archived_repository_takes_no_writes(house: House) -> None:
    await house.ask("PATCH", REPO, house.alice, json={"archived": True})
    answer = await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": "t"})
    assert (answer.status_code, answer.json()["message"]) == (403, "Repository was archived so is read-only.")


async def test_a_body_of_65536_characters_is_the_longest(house: House) -> None:
    await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": "t"})
    path = f"{REPO}/issues/1/comments"
    assert (await house.ask("POST", path, house.bob, json={"body": "é" * 65_536})).status_code == 201
    answer = await house.ask("POST", path, house.bob, json={"body": "é" * 65_537})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["message"] == "Body is too long (maximum is 65536 characters)"


async def test_faults_hit_the_calls_they_name_as_often_as_they_say(house: House) -> None:
    local, token = house.local, await house.token()
    local.add_fault("error", path="*/issues*", status=502, times=1)
    local.add_fault("secondary_limit", method="POST", path="*/issues", status=429, retry_after=7, times=1)
    local.add_fault("slow", path="*/labels", seconds=0.3, times=1)
    assert (await house.ask("GET", REPO, token)).status_code == 200
    assert (await house.ask("GET", f"{REPO}/issues", token)).status_code == 502
    limited = await house.ask("POST", f"{REPO}/issues", token, json={"title": "t"})
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "7")
    assert "secondary rate limit" in limited.json()["message"]
    assert (await house.ask("POST", f"{REPO}/issues", token, json={"title": "t"})).status_code == 201
    started = time.monotonic()
    await house.ask("GET", f"{REPO}/labels", token)
    assert time.monotonic() - started >= 0.3
    local.add_fault("primary_limit", times=1)
    spent = await house.ask("GET", REPO, token)
    assert (spent.status_code, spent.headers["x-ratelimit-remaining"]) == (403, "0")
    with pytest.raises(ValueError, match="unknown fault 'earthquake'"):
        local.add_fault("earthquake")


async def test_the_primary_limit_is_counted(house: House) -> None:
    house.local.hub.limits.overrides["core"] = 2
    token = await house.token()
    answers = [await house.ask("GET", REPO, token) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 403]
    assert answers[2].json()["message"].startswith("API rate limit exceeded")
    house.local.hub.clock.advance(3601)
    assert (await house.ask("GET", REPO, await house.token())).status_code == 200


async def test_an_enterprise_server_lives_under_api_v3_and_knows_one_version() -> None:
    async with LocalGitHub(options=EmulatorOptions(enterprise=True)) as local:
        assert local.api_url == f"{local.web_url}/api/v3"
        async with httpx.AsyncClient() as http:
            old = await http.get(f"{local.api_url}/meta")
            new = await http.get(f"{local.api_url}/meta", headers={"X-GitHub-Api-Version": "2026-03-10"})
        assert (old.status_code, new.status_code) == (200, 400)
        assert old.json()["installed_version"] == "3.20.0" and "x-ratelimit-limit" not in old.headers
