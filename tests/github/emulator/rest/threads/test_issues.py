"""Issues as people handle them: labels, assignments, comments, reactions, and who may do what."""

from typing import Any

import pytest

from tests.github.emulator.house import REPO, House


@pytest.fixture
async def issue(house: House) -> int:
    made = await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": "T", "body": "B"})
    assert made.status_code == 201, made.text
    return int(made.json()["number"])


def told(house: House) -> list[tuple[str, dict[str, Any]]]:
    """Collects every webhook from now on as (event.action, payload)."""
    found: list[tuple[str, dict[str, Any]]] = []
    house.local.app.hook.url = "http://127.0.0.1:9/"
    house.local.observe(hooks=lambda event, action, payload: found.append((f"{event}.{action}", payload)))
    return found


async def test_labels_are_set_by_who_may_triage_and_each_is_told(house: House, issue: int) -> None:
    hooks, path = told(house), f"{REPO}/issues/{issue}/labels"
    refused = await house.ask("POST", path, house.bob, json={"labels": ["a"]})
    assert refused.status_code == 403
    house.local.set_permission("acme/widgets", "bob", "triage")
    assert (await house.ask("POST", path, house.bob, json={"labels": ["a", "b"]})).status_code == 200
    assert (await house.ask("DELETE", f"{path}/a", house.bob)).status_code == 200
    assert [each["name"] for each in (await house.ask("GET", path, house.bob)).json()] == ["b"]
    assert (await house.ask("DELETE", f"{path}/a", house.bob)).status_code == 404
    await house.local.idle()
    labels = [(name, payload["label"]["name"]) for name, payload in hooks if "labeled" in name]
    assert sorted(labels) == [("issues.labeled", "a"), ("issues.labeled", "b"), ("issues.unlabeled", "a")]


async def test_the_app_can_be_assigned_and_taken_off(house: House, issue: int) -> None:
    hooks, bot = told(house), f"{house.local.app.slug}[bot]"
    for method in ("POST", "DELETE"):
        answer = await house.ask(method, f"{REPO}/issues/{issue}/assignees", house.carol, json={"assignees": [bot]})
        assert answer.is_success, answer.text
    await house.local.idle()
    acts = [(name, payload["assignee"]["login"]) for name, payload in hooks if "assigned" in name]
    assert acts == [("issues.assigned", bot), ("issues.unassigned", bot)]


async def test_comments_are_edited_and_deleted_by_their_author_or_a_writer_and_told(house: House, issue: int) -> None:
    hooks, path = told(house), f"{REPO}/issues/{issue}/comments"
    made = (await house.ask("POST", path, house.carol, json={"body": "first"})).json()
    own = f"{REPO}/issues/comments/{made['id']}"
    assert (await house.ask("PATCH", own, house.bob, json={"body": "x"})).status_code == 403
    assert (await house.ask("PATCH", own, house.carol, json={"body": "second"})).status_code == 200
    assert (await house.ask("DELETE", own, house.alice)).status_code == 204
    assert (await house.ask("GET", own, house.carol)).status_code == 404
    await house.local.idle()
    assert [name for name, _ in hooks] == ["issue_comment.created", "issue_comment.edited", "issue_comment.deleted"]
    assert hooks[1][1]["changes"] == {"body": {"from": "first"}}


async def test_a_reaction_is_made_once_and_can_be_taken_back(house: House, issue: int) -> None:
    path = f"{REPO}/issues/{issue}/reactions"
    codes = [(await house.ask("POST", path, house.bob, json={"content": "eyes"})).status_code for _ in range(2)]
    assert codes == [201, 200]
    assert (await house.ask("POST", path, house.bob, json={"content": "wink"})).status_code == 422
    (reaction,) = (await house.ask("GET", path, house.bob)).json()
    assert (await house.ask("DELETE", f"{path}/{reaction['id']}", house.bob)).status_code == 204
    assert (await house.ask("GET", path, house.bob)).json() == []


@pytest.mark.parametrize(
    ("role", "permission"),
    [("admin", "admin"), ("maintain", "write"), ("write", "write"), ("triage", "read"), ("read", "read")],
)
async def test_a_role_is_reported_as_its_base_permission(house: House, role: str, permission: str) -> None:
    house.local.set_permission("acme/widgets", "bob", role)
    found = (await house.ask("GET", f"{REPO}/collaborators/bob/permission", await house.token())).json()
    assert (found["permission"], found["role_name"], found["user"]["id"]) == (permission, role, house.bob.id)
    assert (
        await house.ask("GET", f"{REPO}/collaborators/nobody-here/permission", await house.token())
    ).status_code == 404


async def test_an_answer_by_mail_has_what_the_mail_program_quotes(house: House) -> None:
    body = {"title": "t", "body": "@greenloop please"}
    issue = (await house.ask("POST", f"{REPO}/issues", house.bob, json=body)).json()["number"]
    mail = {
        "repository": "acme/widgets",
        "number": issue,
        "login": "carol",
        "text": "No.",
        "header": "Am Montag schrieb X:",
    }
    answer = await house.http.post(f"{house.local.web_url}/_local/mails", json=mail)
    assert answer.status_code == 201, answer.text
    [comment] = (await house.ask("GET", f"{REPO}/issues/{issue}/comments", house.bob)).json()
    assert comment["user"]["login"] == "carol"
    assert comment["body"].startswith("No.\n\nAm Montag schrieb X:\n\n> @greenloop please\n>\n> —\n")
    assert "view it on GitHub" in comment["body"] and "issue-comment-created" in house.watch.events


async def test_a_bot_is_assigned_unless_a_fault_forbids_it(house: House) -> None:
    issue = (await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": "t"})).json()["number"]
    path, body = f"{REPO}/issues/{issue}/assignees", {"assignees": ["greenloop[bot]"]}
    assert (await house.ask("POST", path, house.carol, json=body)).json()["assignees"][0]["login"] == "greenloop[bot]"
    house.local.add_fault("unassignable_bots")
    assert (await house.ask("POST", path, house.carol, json=body)).status_code == 403
    assert (await house.ask("POST", path, house.carol, json={"assignees": ["alice"]})).status_code == 201


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("repo:acme/widgets is:issue", ["Broken page", "Other"]),
        ("repo:acme/widgets is:open page", ["Broken page"]),
        ('repo:acme/widgets label:"help wanted"', ["Other"]),
        ("repo:acme/widgets -author:bob", []),
        ("is:pr", []),
    ],
)
async def test_issues_are_found_by_qualifiers_and_words(house: House, query: str, found: list[str]) -> None:
    for title, labels in (("Broken page", []), ("Other", ["help wanted"])):
        made = await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": title})
        await house.ask("POST", f"{REPO}/issues/{made.json()['number']}/labels", house.carol, json={"labels": labels})
    answer = await house.ask("GET", "/search/issues", await house.token(), params={"q": query})
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-ratelimit-resource"] == "search"
    assert sorted(row["title"] for row in answer.json()["items"]) == found
    assert (await house.ask("GET", "/search/issues", None, params={"q": query})).json()["items"] == []
    assert (await house.ask("GET", "/search/issues", house.bob, params={"q": "sort:stars"})).status_code == 422
