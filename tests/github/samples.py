"""Payloads by hand, as small as a rule needs them. Real ones are in `tests.github.payloads`."""

import json
from typing import Any

from github.webhooks.events import parse
from github.webhooks.identity import Me
from github.webhooks.outcomes import Outcome
from github.webhooks.triggers import decide

APP = {"id": 1, "slug": "greenloop"}
BOT = {"id": 900, "login": "greenloop[bot]", "type": "Bot"}
ALICE = {"id": 10, "login": "alice", "type": "User"}
REPOSITORY = {"id": 7, "full_name": "octo/app", "default_branch": "trunk"}
SHA = "a" * 40
ME = Me(app_id=1, slug="greenloop", bot_id=900, allowed_bots=frozenset({"renovate[bot]", "release-bot"}))


def outcome(name: str, payload: dict[str, Any], me: Me = ME) -> Outcome:
    """What a delivery means."""
    return decide(parse(name, json.dumps(payload).encode()), me)


def event(**fields: Any) -> dict[str, Any]:
    """A delivery of Alice in octo/app."""
    return {"sender": ALICE, "repository": REPOSITORY, "installation": {"id": 5}, **fields}


def issue(body: str | None = "It breaks", **fields: Any) -> dict[str, Any]:
    return {"id": 70, "number": 12, "title": "Login fails", "body": body, "state": "open", "user": ALICE, **fields}


def pull(body: str | None = "A change", **fields: Any) -> dict[str, Any]:
    return {
        "id": 80,
        "number": 13,
        "title": "Change",
        "body": body,
        "state": "open",
        "user": ALICE,
        "head": {"ref": "topic", "sha": SHA, "repo": {"id": 7}},
        "base": {"ref": "trunk", "sha": "b" * 40, "repo": {"id": 7}},
        **fields,
    }


def comment(body: str | None, **fields: Any) -> dict[str, Any]:
    return {"id": 500, "body": body, "user": ALICE, "html_url": "https://github.com/octo/app/issues/12#c", **fields}


def check_run(**fields: Any) -> dict[str, Any]:
    suite = {"id": 30, "head_branch": "topic", "head_sha": SHA}
    return {"id": 40, "name": "test", "head_sha": SHA, "app": {"id": 2}, "check_suite": suite, **fields}
