"""Events about checks: hints, and the buttons of our own."""

from typing import Any

import pytest

from github.webhooks.commands import Approve, Retry, Stop
from github.webhooks.outcomes import Hint, Ignored, Request, Why
from github.webhooks.sources import CheckButton
from tests.github.samples import APP, BOT, SHA, check_run, event, outcome

HINTS = [
    ("check_run", event(action="completed", check_run=check_run(), sender=BOT)),
    ("check_run", event(action="completed", check_run=check_run(app=None))),
    ("check_suite", event(action="completed", check_suite={"head_sha": SHA, "app": {"id": 2}}, sender=BOT)),
    ("workflow_run", event(action="completed", workflow_run={"id": 9, "run_attempt": 2, "head_sha": SHA}, sender=BOT)),
    ("status", event(sha=SHA, state="failure", context="ci/x", branches=[{"name": "topic"}])),
    ("status", event(sha=SHA, state="pending", branches=None, sender=None)),
]


@pytest.mark.parametrize(("name", "payload"), HINTS)
def test_events_about_checks_are_hints_also_for_our_own_pushes(name: str, payload: dict[str, Any]) -> None:
    found = outcome(name, payload)
    assert isinstance(found, Hint), found
    assert (found.sha, found.source, found.repo.id) == (SHA, name, 7)


QUEUE = f"gh-readonly-queue/release/1.x/pr-12-{SHA}"
IN_QUEUE = [
    ("check_run", {"check_run": check_run(conclusion="failure", check_suite={"head_branch": QUEUE, "head_sha": SHA})}),
    (
        "check_suite",
        {"check_suite": {"head_sha": SHA, "head_branch": QUEUE, "conclusion": "timed_out", "app": {"id": 2}}},
    ),
    ("workflow_run", {"workflow_run": {"head_sha": SHA, "head_branch": QUEUE, "conclusion": "failure"}}),
    ("status", {"sha": SHA, "state": "error", "branches": [{"name": QUEUE}]}),
]


@pytest.mark.parametrize(("name", "payload"), IN_QUEUE)
def test_what_fails_in_a_merge_queue_names_the_pull_request_that_was_tried(name: str, payload: dict[str, Any]) -> None:
    found = outcome(name, event(action="completed", **payload))
    assert isinstance(found, Hint), found
    assert (found.queued_pull, found.failed) == (12, True)


def test_what_passes_in_a_merge_queue_is_no_news() -> None:
    run = {"head_sha": SHA, "head_branch": QUEUE, "conclusion": "success"}
    assert outcome("workflow_run", event(action="completed", workflow_run=run)) == Ignored("a merge queue's own branch")


def test_a_hint_lists_no_pull_request_of_another_repository() -> None:
    pulls = [
        {"number": 1, "base": {"repo": {"id": 7}}},
        {"number": 2, "base": {"repo": {"id": 99}}},
        {"number": 3},
        None,
    ]
    found = outcome("check_run", event(action="completed", check_run=check_run(pull_requests=pulls)))
    assert isinstance(found, Hint)
    assert found.pulls == (1, 3)


def test_a_hint_of_a_fork_lists_none_and_is_a_hint_all_the_same() -> None:
    found = outcome("check_run", event(action="completed", check_run=check_run(pull_requests=[])))
    assert isinstance(found, Hint)
    assert found.pulls == ()


def test_a_button_of_our_own_check_is_a_request() -> None:
    run = check_run(app=APP, external_id="s_1")
    found = outcome(
        "check_run", event(action="requested_action", check_run=run, requested_action={"identifier": "stop"})
    )
    assert isinstance(found, Request)
    assert (found.why, found.command, found.source) == (Why.BUTTON, Stop(), CheckButton(run["id"], SHA, "s_1"))


def test_a_button_that_we_never_made_is_ignored() -> None:
    run = check_run(app=APP, external_id="s_1")
    pressed = event(action="requested_action", check_run=run, requested_action={"identifier": "launch"})
    assert isinstance(outcome("check_run", pressed), Ignored)


@pytest.mark.parametrize(
    ("identifier", "approves"),
    [
        (f"approve-{SHA[:12]}", True),
        (f"approve-{'0' * 12}", False),
        ("approve-", False),
        (f"approve-{SHA[:11]}", False),
    ],
)
def test_a_button_approves_the_commit_that_it_names_and_stands_on(identifier: str, approves: bool) -> None:
    run = check_run(app=APP, external_id="s_1")
    pressed = event(action="requested_action", check_run=run, requested_action={"identifier": identifier})
    found = outcome("check_run", pressed)
    assert (isinstance(found, Request) and found.command == Approve(SHA)) is approves


@pytest.mark.parametrize("name", ["check_run", "check_suite"])
def test_a_rerun_of_our_own_check_is_a_request(name: str) -> None:
    thing = check_run(app=APP) if name == "check_run" else {"head_sha": SHA, "app": APP}
    found = outcome(name, event(action="rerequested", **{name: thing}))
    assert isinstance(found, Request)
    assert isinstance(found.source, CheckButton)
    assert (found.why, found.command, found.source.sha) == (Why.RERUN, Retry(), SHA)
