"""Limits that GitHub sets: what is too long, too large, too much at once, and what a locked conversation takes."""

from typing import Any

import pytest

from tests.github.emulator.house import REPO, House


@pytest.fixture
async def token(house: House) -> str:
    return await house.token()


async def test_a_title_has_at_most_256_characters(house: House, token: str) -> None:
    await house.commit(token, "topic", {"b.txt": "x\n"}, base="main")
    for path, more in ((f"{REPO}/issues", {}), (f"{REPO}/pulls", {"head": "topic", "base": "main"})):
        refused = await house.ask("POST", path, token, json={"title": "x" * 257, **more})
        assert refused.status_code == 422 and "maximum is 256 characters" in refused.text
        assert (await house.ask("POST", path, token, json={"title": "x" * 256, **more})).status_code == 201
    assert (await house.ask("PATCH", f"{REPO}/issues/1", token, json={"title": "x" * 257})).status_code == 422


@pytest.mark.parametrize(
    "entries",
    [
        [{"path": "nowhere.txt", "mode": "100644", "type": "blob", "sha": None}],
        [{"path": "b.txt", "mode": "100644", "type": "blob", "content": text} for text in ("1", "2")],
        [{"path": path, "mode": "040000", "type": "tree", "sha": None} for path in (".github", "a.txt")],
    ],
    ids=["removes what is not there", "names a path twice", "leaves nothing"],
)
async def test_a_tree_that_cannot_be_is_refused(house: House, token: str, entries: list[dict[str, Any]]) -> None:
    head = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    answer = await house.ask("POST", f"{REPO}/git/trees", token, json={"base_tree": head, "tree": entries})
    assert (answer.status_code, answer.json()["message"]) == (422, "GitRPC::BadObjectState")


async def test_a_difference_of_too_many_lines_or_files_is_no_text(house: House, token: str) -> None:
    await house.commit(token, "lines", {"b.txt": "x\n" * 20_001}, base="main")
    await house.commit(token, "files", {f"f/{n}": "x\n" for n in range(301)}, base="main")
    for branch, words in (("lines", "number of lines (20000)"), ("files", "number of files (300)")):
        body = {"title": "t", "head": branch, "base": "main"}
        number = (await house.ask("POST", f"{REPO}/pulls", token, json=body)).json()["number"]
        for path in (f"pulls/{number}", f"compare/main...{branch}"):
            diff = {"Accept": "application/vnd.github.diff"}
            answer = await house.ask("GET", f"{REPO}/{path}", token, headers=diff)
            assert answer.status_code == 406 and words in answer.json()["message"]
            assert answer.json()["errors"][0]["code"] == "too_large"
            assert (await house.ask("GET", f"{REPO}/{path}", token)).status_code == 200


async def test_a_workflow_file_is_refused_at_the_tree_where_the_app_may_not(house: House, token: str) -> None:
    head = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    entry = {"path": ".github/workflows/new.yml", "mode": "100644", "type": "blob", "content": "on: push"}
    body = {"base_tree": head, "tree": [entry]}
    answer = await house.ask("POST", f"{REPO}/git/trees", token, json=body)
    assert (answer.status_code, answer.json()["message"]) == (403, "Resource not accessible by integration")
    house.installation.permissions["workflows"] = "write"
    assert (await house.ask("POST", f"{REPO}/git/trees", await house.token(), json=body)).status_code == 201


async def test_content_is_made_eighty_times_a_minute_at_most(house: House, token: str) -> None:
    issue = (await house.ask("POST", f"{REPO}/issues", token, json={"title": "t"})).json()["number"]
    path = f"{REPO}/issues/{issue}/comments"
    codes = [(await house.ask("POST", path, token, json={"body": "b"})).status_code for _ in range(80)]
    assert codes == [201] * 79 + [403]
    refused = await house.ask("POST", path, token, json={"body": "b"})
    assert "blocked from content creation" in refused.json()["message"] and refused.headers["retry-after"] == "60"
    assert (await house.ask("POST", path, house.carol, json={"body": "b"})).status_code == 201
    house.local.hub.clock.advance(61)
    assert (await house.ask("POST", path, token, json={"body": "b"})).status_code == 201


async def test_a_locked_conversation_takes_words_of_people_with_write_access_only(house: House, token: str) -> None:
    issue = (await house.ask("POST", f"{REPO}/issues", token, json={"title": "t"})).json()["number"]
    path = f"{REPO}/issues/{issue}"
    mine = (await house.ask("POST", f"{path}/comments", token, json={"body": "b"})).json()["id"]
    locked = await house.ask("PUT", f"{path}/lock", house.carol, json={"lock_reason": "resolved"})
    assert locked.status_code == 204
    shown = (await house.ask("GET", path, token)).json()
    assert (shown["locked"], shown["active_lock_reason"]) == (True, "resolved")
    for who, status in ((token, 403), (house.bob, 403), (house.carol, 201)):
        answer = await house.ask("POST", f"{path}/comments", who, json={"body": "b"})
        assert answer.status_code == status
        assert status == 201 or answer.json()["message"] == "Unable to create comment because issue is locked."
    assert (await house.ask("POST", f"{path}/reactions", token, json={"content": "eyes"})).status_code == 403
    edited = await house.ask("PATCH", f"{REPO}/issues/comments/{mine}", token, json={"body": "c"})
    assert edited.status_code == 200
    assert (await house.ask("DELETE", f"{path}/lock", house.carol)).status_code == 204
    assert (await house.ask("POST", f"{path}/comments", token, json={"body": "b"})).status_code == 201
    assert {"issues-locked", "issues-unlocked"} <= house.watch.events


async def test_an_etag_holds_for_the_token_that_asked(house: House, token: str) -> None:
    tag = (await house.ask("GET", REPO, token)).headers["etag"]
    headers = {"If-None-Match": tag}
    assert (await house.ask("GET", REPO, token, headers=headers)).status_code == 304
    assert (await house.ask("GET", REPO, await house.token(), headers=headers)).status_code == 200


async def test_the_base_of_a_pull_request_is_told_as_of_its_last_push(house: House, token: str) -> None:
    first = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    await house.commit(token, "topic", {"b.txt": "1\n"}, base="main")
    body = {"title": "t", "head": "topic", "base": "main"}
    number = (await house.ask("POST", f"{REPO}/pulls", token, json=body)).json()["number"]
    second = await house.commit(token, "main", {"c.txt": "1\n"})
    assert (await house.ask("GET", f"{REPO}/pulls/{number}", token)).json()["base"]["sha"] == first
    await house.commit(token, "topic", {"b.txt": "2\n"})
    assert (await house.ask("GET", f"{REPO}/pulls/{number}", token)).json()["base"]["sha"] == second


async def test_the_permission_of_a_bot_is_not_told(house: House, token: str) -> None:
    answer = await house.ask("GET", f"{REPO}/collaborators/greenloop%5Bbot%5D/permission", token)
    assert (answer.status_code, answer.json()["message"]) == (404, "greenloop[bot] is not a user")
