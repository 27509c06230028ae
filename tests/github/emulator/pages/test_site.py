"""Every link that the API gives leads to a page that a person can read and use."""

import re

import httpx

from tests.github.emulator.house import REPO, House


async def page(house: House, url: str) -> str:
    answer = await house.http.get(url)
    assert answer.status_code == 200, (url, answer.text)
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    return answer.text


async def test_a_person_follows_a_pull_request_from_page_to_page(house: House) -> None:
    token = await house.token()
    issue = await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": "A <b>bug", "body": "**see** `x`"})
    sha = await house.commit(token, "greenloop/x", {"broken.txt": "é\n"}, base="main")
    body = {"title": "Fix", "head": "greenloop/x", "base": "main", "draft": True}
    pull = (await house.ask("POST", f"{REPO}/pulls", token, json=body)).json()
    await house.local.idle()
    assert "/acme/widgets" in await page(house, house.local.web_url)
    shown = await page(house, issue.json()["html_url"])
    assert "A &lt;b&gt;bug" in shown and "<strong>see</strong>" in shown
    shown = await page(house, pull["html_url"])
    assert "draft" in shown and "failure" in shown and "+é" in shown and sha[:7] in shown
    checks = (await house.ask("GET", f"{REPO}/commits/{sha}/check-runs", token)).json()["check_runs"]
    shown = await page(house, checks[0]["html_url"])
    assert "Process completed with exit code 1." in shown and "look here" in shown
    assert "test" in await page(house, checks[0]["details_url"])
    runs = (await house.ask("GET", f"{REPO}/actions/runs", token)).json()["workflow_runs"]
    assert "attempt 1" in await page(house, runs[0]["html_url"])
    assert "broken.txt" in await page(house, f"{house.local.web_url}/acme/widgets/commit/{sha}")
    assert (await house.http.get("/acme/widgets/issues/99")).status_code == 404


async def test_a_person_comments_by_the_form_but_another_site_cannot(house: House) -> None:
    issue = (await house.ask("POST", f"{REPO}/issues", house.bob, json={"title": "t"})).json()
    shown = await page(house, issue["html_url"])
    action = re.search(r'action="([^"]+/comments)"', shown)
    assert action is not None
    form = {"user": "alice", "body": "@greenloop go <!-- hidden -->"}
    foreign = await house.http.post(action[1], data=form, headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 422
    made = await house.http.post(action[1], data=form, headers={"Origin": house.local.web_url})
    assert made.status_code == 303
    assert "issue-comment-created" in house.watch.events
    shown = await page(house, issue["html_url"])
    assert "@greenloop go" in shown and "hidden" not in shown


async def test_a_button_of_a_check_run_reaches_its_app(house: House) -> None:
    token = await house.token()
    head = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    button = {"label": "Retry", "description": "Once more", "identifier": "retry"}
    body = {"name": "Greenloop", "head_sha": head, "conclusion": "failure", "actions": [button]}
    check = (await house.ask("POST", f"{REPO}/check-runs", token, json=body)).json()
    assert "Once more" in await page(house, check["html_url"])
    url = httpx.URL(check["html_url"]).path + "/actions"
    form = {"user": "alice", "identifier": "retry"}
    assert (await house.http.post(url, data=form, headers={"Origin": house.local.web_url})).status_code == 303
    assert "check-run-requested-action" in house.watch.events


async def test_buttons_are_shown_and_pressed_only_on_a_completed_check_run(house: House) -> None:
    token = await house.token()
    head = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    button = {"label": "Stop", "description": "Stop it", "identifier": "stop"}
    body = {"name": "Greenloop", "head_sha": head, "status": "in_progress", "actions": [button]}
    check = (await house.ask("POST", f"{REPO}/check-runs", token, json=body)).json()
    url = httpx.URL(check["html_url"]).path + "/actions"
    form = {"user": "alice", "identifier": "stop"}
    assert "Stop it" not in await page(house, check["html_url"])
    refused = await house.http.post(url, data=form, headers={"Origin": house.local.web_url})
    assert refused.status_code == 422 and "in_progress" in refused.text
    await house.ask("PATCH", f"{REPO}/check-runs/{check['id']}", token, json={"conclusion": "neutral"})
    assert "Stop it" in await page(house, check["html_url"])
    assert (await house.http.post(url, data=form, headers={"Origin": house.local.web_url})).status_code == 303
