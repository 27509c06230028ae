"""What many deliveries are to us, decided by what the database knows of their commits and branches."""

from dataclasses import replace

import pytest

from github.webhooks.commands import Run
from github.webhooks.events import BadPayload
from github.webhooks.outcomes import (
    Actor,
    Change,
    Declined,
    Hint,
    Ignored,
    LifecycleEvent,
    Outcome,
    Repo,
    Request,
    Subject,
    Why,
)
from github.webhooks.sources import ThreadComment
from loops.deliveries.triage import Known, ReadDelivery, branches, heads, looks, triage
from loops.store.states import Lane

REPO = Repo(7, "acme/widgets", 3)
SHA = "a" * 40
HINT = Hint(REPO, SHA, "check_run", "topic")
RED = replace(HINT, failed=True)
PUSH = LifecycleEvent(Change.BRANCH_MOVED, 3, REPO, branch="topic", after=SHA)
ANN = Actor(1, "ann")
ASKED = Request(Why.MENTION, REPO, ANN, ThreadComment(11), Run(), Subject(5, False))


def read(*outcomes: Outcome | BadPayload | None, lane: Lane = Lane.HINTS) -> list[ReadDelivery]:
    return [ReadDelivery(f"g-{n}", lane, outcome) for n, outcome in enumerate(outcomes)]


def test_hints_of_a_commit_that_nobody_waits_for_are_done() -> None:
    done = triage(read(HINT, HINT), Known())
    assert {each.what for each in done.decided.values()} == {"ignored"}
    assert (len(done.decided), done.alone, done.woken) == (2, {}, set())


@pytest.mark.parametrize("hint", [HINT, RED, replace(RED, queued_pull=4)])
def test_hints_of_a_commit_that_sessions_wait_for_wake_each_of_them(hint: Hint) -> None:
    done = triage(read(hint, hint), Known(watching={(7, SHA): [41, 42]}))
    assert done.woken == {41, 42}
    assert [(each.what, each.session_id) for each in done.decided.values()] == [("hint", 41)] * 2


def test_of_many_red_hints_of_one_commit_one_look_is_made() -> None:
    done = triage(read(RED, replace(RED, source="check_suite"), replace(RED, source="workflow_run")), Known())
    assert [(guid, lane) for guid, (lane, _) in done.alone.items()] == [("g-0", Lane.LOOK)]
    assert {each.reason for each in done.decided.values()} == {f"a look at {SHA[:12]} is due already"}


@pytest.mark.parametrize(
    "other",
    [
        replace(RED, sha="b" * 40),
        replace(RED, branch=""),
        replace(RED, branch="main"),
        replace(RED, queued_pull=9),
        replace(RED, repo=replace(REPO, id=8)),
    ],
)
def test_what_another_commit_branch_or_queue_says_is_looked_at_too(other: Hint) -> None:
    assert set(triage(read(RED, other), Known()).alone) == {"g-0", "g-1"}


def test_a_red_hint_is_covered_by_a_look_that_waits_already() -> None:
    deliveries = read(RED)
    done = triage(deliveries, Known(looks=frozenset(looks(deliveries))))
    assert (done.alone, [each.what for each in done.decided.values()]) == ({}, ["ignored"])


def test_a_check_that_comes_after_an_end_without_any_is_looked_at() -> None:
    assert set(triage(read(HINT), Known(unsettled=frozenset({(7, SHA)}))).alone) == {"g-0"}


def test_a_push_to_a_branch_of_no_session_is_done_and_its_repository_remembered() -> None:
    done = triage(read(PUSH, replace(PUSH, change=Change.BRANCH_DELETED)), Known())
    assert [each.what for each in done.decided.values()] == ["noted", "noted"]
    assert [each.change for each in done.heard_of] == [Change.BRANCH_MOVED, Change.BRANCH_DELETED]


def test_a_push_to_a_branch_of_a_session_and_every_other_change_is_handled_alone() -> None:
    known = Known(branches=frozenset({(7, "topic")}))
    done = triage(read(PUSH, LifecycleEvent(Change.UNINSTALLED, 3)), known)
    assert [lane for lane, _ in done.alone.values()] == [Lane.CHANGE, Lane.CHANGE]


def test_what_people_ask_for_and_what_is_refused_to_them_is_handled_alone() -> None:
    done = triage(read(ASKED, Declined("no", REPO, ANN, ThreadComment(11))), Known())
    assert [lane for lane, _ in done.alone.values()] == [Lane.REQUEST, Lane.REQUEST]


@pytest.mark.parametrize(("lane", "to"), [(Lane.PEOPLE, Lane.REQUEST), (Lane.HINTS, Lane.CHANGE)])
def test_what_is_not_read_beside_others_is_handled_alone(lane: Lane, to: Lane) -> None:
    assert triage(read(None, lane=lane), Known()).alone == {"g-0": (to, None)}


def test_what_asks_for_nothing_or_cannot_be_read_is_done_with_its_reason() -> None:
    done = triage(read(Ignored("our own act"), BadPayload("no JSON")), Known())
    assert [(each.what, each.reason) for each in done.decided.values()] == [
        ("ignored", "our own act"),
        ("unreadable", "no JSON"),
    ]


@pytest.mark.parametrize(
    "outcome",
    [
        replace(RED, repo=replace(REPO, installation_id=0)),
        replace(PUSH, installation_id=0),
        replace(ASKED, repo=replace(REPO, installation_id=0)),
    ],
)
def test_what_names_no_installation_is_of_no_app(outcome: Outcome) -> None:
    done = triage(read(outcome), Known(watching={(7, SHA): [41]}))
    assert ([each.what for each in done.decided.values()], done.alone, done.woken) == (["ignored"], {}, set())


def test_only_commits_and_branches_of_the_batch_are_looked_up() -> None:
    deliveries = read(HINT, RED, PUSH, replace(PUSH, branch=""), ASKED, None, BadPayload("x"))
    assert (heads(deliveries), branches(deliveries)) == ({(7, SHA)}, {(7, "topic")})
    assert len(looks(deliveries)) == 1
