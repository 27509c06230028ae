"""Webhooks of the local GitHub reach Apps that nobody here wrote, and are believed by them alone."""

import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.github.contract.clients.foreign import app_of, serving
from tests.github.contract.local import LocalTarget
from tests.github.contract.target import Target


def until(there: Callable[[], bool]) -> None:
    """Wait for something, a minute at most."""
    deadline = time.monotonic() + 60
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(("program", "name"), [("probot_app.mjs", "Probot"), ("gidgethub_app.py", "gidgethub")])
def test_an_app_believes_a_signed_webhook_answers_it_and_refuses_a_forged_one(
    target: Target, program: str, name: str, tmp_path: Path
) -> None:
    if not isinstance(target, LocalTarget):
        pytest.skip("a real GitHub does not reach this machine")
    local, secret = target.local, "only the two of us"
    headers = {"Authorization": f"Bearer {target.tokens['person']}", "User-Agent": "test"}
    with serving(program, {"api": target.api_url, "app": app_of(target), "secret": secret}, tmp_path) as port:
        hook = f"http://127.0.0.1:{port}/hook"
        forged = {"X-GitHub-Event": "issues", "X-GitHub-Delivery": "1", "X-Hub-Signature-256": "sha256=" + "0" * 64}
        assert httpx.post(hook, json={"action": "opened"}, headers=forged).status_code == 400
        before = len(local.store.deliveries)
        local.set_webhook(hook, secret)
        try:
            url = f"{target.api_url}/repos/{target.repository}/issues"
            issue = httpx.post(url, json={"title": "Hello"}, headers=headers).json()
            thanks = f"Thanks, says {name} of {target.repository.split('/')[1]}"
            until(lambda: thanks in [row["body"] for row in httpx.get(issue["comments_url"], headers=headers).json()])
            until(lambda: not local.hub.hooks.busy)
        finally:
            local.set_webhook("")
    told = list(local.store.deliveries)[before:]
    assert {"issues", "issue_comment"} <= {row.event for row in told}
    assert {row.status_code for row in told} == {200}
