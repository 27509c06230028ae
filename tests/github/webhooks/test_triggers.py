"""The table of triggers: what is accepted, refused, news, a hint, or ignored."""

from typing import Any

import pytest

from github.webhooks.commands import Help, Run, Status, Stop, Unclear
from github.webhooks.identity import Me
from github.webhooks.outcomes import Declined, Ignored, Request, Why
from github.webhooks.sources import InlineComment, Where
from tests.github.samples import ALICE, APP, BOT, SHA, check_run, comment, event, issue, outcome, pull

STRANGE_BOT = {"id": 901, "login": "other[bot]", "type": "Bot"}
ALLOWED_BOT = {"id": 902, "login": "renovate[bot]", "type": "Bot"}
PULL_ISSUE: dict[str, Any] = {"pull_request": {"url": "x", "merged_at": None}}
ZEROS = "0" * 40


ASKED = [
    # event, payload, why, where, number, is a pull request
    ("issues", event(action="opened", issue=issue("@greenloop fix")), Why.MENTION, Where.ISSUE, 12, False),
    ("issues", event(action="opened", issue=issue(None, title="@greenloop fix")), Why.MENTION, Where.ISSUE, 12, False),
    (
        "issues",
        event(action="edited", issue=issue("@greenloop fix"), changes={"body": {"from": "fix"}}),
        Why.MENTION,
        Where.ISSUE,
        12,
        False,
    ),
    (
        "issues",
        event(action="edited", issue=issue("@greenloop fix"), changes={"body": {"from": "`@greenloop` fix"}}),
        Why.MENTION,
        Where.ISSUE,
        12,
        False,
    ),
    ("issues", event(action="assigned", issue=issue(), assignee=BOT), Why.ASSIGNED, Where.ISSUE, 12, False),
    (
        "issues",
        event(action="labeled", issue=issue(), label={"name": "GreenLoop"}),
        Why.LABELED,
        Where.ISSUE,
        12,
        False,
    ),
    (
        "issues",
        event(action="opened", issue=issue("@greenloop x"), sender=ALLOWED_BOT),
        Why.MENTION,
        Where.ISSUE,
        12,
        False,
    ),
    (
        "issue_comment",
        event(action="created", issue=issue(), comment=comment("@greenloop fix")),
        Why.MENTION,
        Where.COMMENT,
        12,
        False,
    ),
    (
        "issue_comment",
        event(action="created", issue=issue(**PULL_ISSUE), comment=comment("@greenloop fix")),
        Why.MENTION,
        Where.COMMENT,
        12,
        True,
    ),
    (
        "issue_comment",
        event(action="created", issue=issue(state="closed"), comment=comment("@greenloop fix")),
        Why.MENTION,
        Where.COMMENT,
        12,
        False,
    ),
    (
        "issue_comment",
        event(
            action="edited",
            issue=issue(),
            comment=comment("@greenloop fix"),
            changes={"body": {"from": "> @greenloop fix"}},
        ),
        Why.MENTION,
        Where.COMMENT,
        12,
        False,
    ),
    ("pull_request", event(action="opened", pull_request=pull("@greenloop fix")), Why.MENTION, Where.PULL, 13, True),
    ("pull_request", event(action="assigned", pull_request=pull(), assignee=BOT), Why.ASSIGNED, Where.PULL, 13, True),
    (
        "pull_request",
        event(action="labeled", pull_request=pull(), label={"name": "greenloop"}),
        Why.LABELED,
        Where.PULL,
        13,
        True,
    ),
    (
        "pull_request_review",
        event(
            action="submitted", pull_request=pull(), review={"id": 60, "body": "@greenloop fix", "state": "commented"}
        ),
        Why.MENTION,
        Where.REVIEW,
        13,
        True,
    ),
    (
        "pull_request_review",
        event(
            action="submitted",
            pull_request=pull(user=BOT),
            review={"id": 60, "body": None, "state": "changes_requested"},
        ),
        Why.CHANGES_REQUESTED,
        Where.REVIEW,
        13,
        True,
    ),
    (
        "pull_request_review_comment",
        event(action="created", pull_request=pull(), comment=comment("@greenloop fix", path="a.py", line=3)),
        Why.MENTION,
        Where.INLINE,
        13,
        True,
    ),
]


@pytest.mark.parametrize(("name", "payload", "why", "where", "number", "is_pull"), ASKED)
def test_an_act_that_asks_becomes_a_request(
    name: str, payload: dict[str, Any], why: Why, where: Where, number: int, is_pull: bool
) -> None:
    found = outcome(name, payload)
    assert isinstance(found, Request), found
    assert (found.why, found.source.where) == (why, where)
    assert found.subject is not None
    assert (found.subject.number, found.subject.is_pull) == (number, is_pull)
    assert (found.repo.id, found.repo.installation_id) == (7, 5)
    assert found.actor.login in ("alice", "renovate[bot]")


IGNORED = [
    ("issues", event(action="opened", issue=issue())),
    ("issues", event(action="opened", issue=issue(None))),
    ("issues", event(action="opened", issue=issue("`@greenloop` fix"))),
    ("issues", event(action="opened", issue=issue("@greenloop x"), sender=BOT)),
    ("issues", event(action="opened", issue=issue("@greenloop x"), sender=None)),
    ("issue_comment", event(action="created", issue=issue(), comment=comment("@greenloop x", user=None), sender=None)),
    ("issues", event(action="edited", issue=issue("@greenloop x"), changes={"body": {"from": "@greenloop x y"}})),
    ("issues", event(action="edited", issue=issue("@greenloop x"), changes={"title": {"from": "Old"}})),
    ("issues", event(action="edited", issue=issue("@greenloop x"), changes={})),
    ("issues", event(action="edited", issue=issue("@greenloop x"))),
    ("issues", event(action="assigned", issue=issue(), assignee=ALICE)),
    ("issues", event(action="assigned", issue=issue(), assignee=None)),
    ("issues", event(action="labeled", issue=issue(), label=None)),
    ("issues", event(action="labeled", issue=issue(), label={"name": "greenloop"}, sender=BOT)),
    ("issues", event(action="unlabeled", issue=issue("@greenloop"), label={"name": "greenloop"})),
    ("issues", event(action="reopened", issue=issue("@greenloop"))),
    ("issues", event(action="opened", issue=None)),
    ("issue_comment", event(action="created", issue=issue(), comment=comment("thanks"))),
    ("issue_comment", event(action="created", issue=issue(), comment=comment(None))),
    ("issue_comment", event(action="created", issue=issue(), comment=comment("@greenloop x"), sender=BOT)),
    (
        "issue_comment",
        event(action="created", issue=issue(), comment=comment("@greenloop x", performed_via_github_app=APP)),
    ),
    ("issue_comment", event(action="pinned", issue=issue(), comment=comment("@greenloop x"))),
    (
        "issue_comment",
        event(
            action="edited", issue=issue(), comment=comment("@greenloop y"), changes={"body": {"from": "@greenloop x"}}
        ),
    ),
    ("pull_request", event(action="assigned", pull_request=pull(), assignee=ALICE)),
    ("pull_request", event(action="synchronize", pull_request=pull(), sender=BOT)),
    ("pull_request", event(action="edited", pull_request=pull())),
    (
        "pull_request_review",
        event(action="submitted", pull_request=pull(), review={"id": 1, "body": "no", "state": "changes_requested"}),
    ),
    (
        "pull_request_review",
        event(action="submitted", pull_request=pull(user=BOT), review={"id": 1, "body": "ok", "state": "approved"}),
    ),
    (
        "pull_request_review",
        event(action="dismissed", pull_request=pull(user=BOT), review={"body": "@greenloop", "state": "dismissed"}),
    ),
    (
        "pull_request_review",
        event(
            action="submitted",
            sender=BOT,
            pull_request=pull(user=BOT),
            review={"body": "", "state": "changes_requested"},
        ),
    ),
    ("check_run", event(action="completed", check_run=check_run(app=APP))),
    ("check_run", event(action="created", check_run=check_run())),
    ("check_run", event(action="rerequested", check_run=check_run())),
    ("check_run", event(action="requested_action", check_run=check_run(), requested_action={"identifier": "stop"})),
    ("check_run", event(action="completed", check_run=check_run(head_sha=None, check_suite=None))),
    (
        "check_run",
        event(
            action="completed",
            check_run=check_run(check_suite={"head_branch": "gh-readonly-queue/trunk/pr-1-abc", "head_sha": SHA}),
        ),
    ),
    ("check_suite", event(action="completed", check_suite={"head_sha": SHA, "app": APP})),
    ("check_suite", event(action="requested", check_suite={"head_sha": SHA, "app": {"id": 2}})),
    ("push", event(ref="refs/tags/v1", before=ZEROS, after=SHA)),
    ("push", event(ref="refs/heads/topic", before="b" * 40, after=SHA, sender=BOT)),
    ("push", event(ref="refs/heads/gh-readonly-queue/trunk/pr-1-a", before=ZEROS, after=SHA)),
    ("repository", event(action="publicized")),
    ("repository", event(action="edited", changes={"description": {"from": "x"}})),
    ("star", event(action="created")),
    ("installation", {"action": "created", "installation": None}),
]


@pytest.mark.parametrize(("name", "payload"), IGNORED)
def test_what_asks_for_nothing_is_ignored_with_a_reason(name: str, payload: dict[str, Any]) -> None:
    found = outcome(name, payload)
    assert isinstance(found, Ignored), found
    assert found.reason


REFUSED = [
    ("issues", event(action="opened", issue=issue("@greenloop x"), sender=STRANGE_BOT), "allow-list", False),
    (
        "issues",
        event(action="labeled", issue=issue(), label={"name": "greenloop"}, sender=STRANGE_BOT),
        "allow-list",
        False,
    ),
    (
        "issue_comment",
        event(action="created", issue=issue(), comment=comment("@greenloop x"), sender=STRANGE_BOT),
        "allow-list",
        False,
    ),
    (
        "check_run",
        event(
            action="requested_action",
            check_run=check_run(app=APP),
            requested_action={"identifier": "stop"},
            sender=STRANGE_BOT,
        ),
        "allow-list",
        False,
    ),
    (
        "issue_comment",
        event(action="created", issue=issue(state="closed", **PULL_ISSUE), comment=comment("@greenloop x")),
        "closed",
        True,
    ),
    (
        "issue_comment",
        event(
            action="created",
            issue=issue(state="closed", pull_request={"merged_at": "2026-01-01T00:00:00Z"}),
            comment=comment("@greenloop retry"),
        ),
        "merged",
        True,
    ),
    (
        "pull_request_review",
        event(
            action="submitted",
            pull_request=pull(state="closed", merged=True, user=BOT),
            review={"body": "", "state": "changes_requested"},
        ),
        "merged",
        True,
    ),
]


@pytest.mark.parametrize(("name", "payload", "word", "answered"), REFUSED)
def test_a_refusal_has_a_reason_and_only_people_are_answered(
    name: str, payload: dict[str, Any], word: str, answered: bool
) -> None:
    found = outcome(name, payload)
    assert isinstance(found, Declined), found
    assert word in found.reason
    assert bool(found.answer) is answered


def test_commands_still_work_on_a_closed_pull_request() -> None:
    closed = issue(state="closed", **PULL_ISSUE)
    for said, command in (("stop", Stop()), ("status", Status()), ("help", Help())):
        found = outcome("issue_comment", event(action="created", issue=closed, comment=comment(f"@greenloop {said}")))
        assert isinstance(found, Request)
        assert found.command == command


def test_the_person_is_the_one_who_acted_not_the_author_of_the_text() -> None:
    editor = {"id": 11, "login": "bob", "type": "User"}
    payload = event(
        action="edited", issue=issue(), comment=comment("@greenloop x"), changes={"body": {"from": "x"}}, sender=editor
    )
    found = outcome("issue_comment", payload)
    assert isinstance(found, Request)
    assert (found.actor.id, found.actor.login) == (11, "bob")


def test_the_texts_are_those_of_the_delivery() -> None:
    payload = event(action="created", issue=issue("the body then"), comment=comment("@greenloop fix it\n\nplease"))
    found = outcome("issue_comment", payload)
    assert isinstance(found, Request)
    assert found.subject is not None
    assert (found.subject.title, found.subject.body) == ("Login fails", "the body then")
    assert found.source.text == "@greenloop fix it\n\nplease"
    assert found.command == Run("fix it\n\nplease")


def test_an_inline_comment_says_where_it_stands_and_which_thread_it_is_in() -> None:
    said = comment("@greenloop fix", path="a.py", line=3, diff_hunk="@@", in_reply_to_id=490, pull_request_review_id=60)
    found = outcome("pull_request_review_comment", event(action="created", pull_request=pull(), comment=said))
    assert isinstance(found, Request)
    source = found.source
    assert isinstance(source, InlineComment)
    assert (source.path, source.line, source.thread_id, source.review_id) == ("a.py", 3, 490, 60)
    assert found.subject is not None and found.subject.head_sha == SHA


def test_a_pull_request_whose_fork_is_gone_is_read() -> None:
    gone = pull("@greenloop fix", head={"ref": "x", "sha": SHA, "repo": None}, user=None)
    found = outcome("pull_request", event(action="opened", pull_request=gone))
    assert isinstance(found, Request)
    assert found.subject is not None
    assert (found.subject.head_repository_id, found.subject.author) == (0, None)


def test_any_label_is_a_request_that_names_it_since_a_repository_may_choose_its_own() -> None:
    found = outcome("issues", event(action="labeled", issue=issue(), label={"name": "fix-me"}))
    assert isinstance(found, Request)
    assert found.label == "fix-me"


@pytest.mark.parametrize(
    "payload",
    [
        event(action="labeled", pull_request=pull(state="closed", merged=True), label={"name": "fix-me"}),
        event(action="labeled", pull_request=pull(), label={"name": "fix-me"}, sender=STRANGE_BOT),
    ],
)
def test_a_refusal_of_a_label_names_it_since_only_the_repository_knows_whether_it_is_ours(
    payload: dict[str, Any],
) -> None:
    found = outcome("pull_request", payload)
    assert isinstance(found, Declined)
    assert found.label == "fix-me"


def test_opened_and_five_labels_are_six_events_of_one_issue() -> None:
    opened = outcome("issues", event(action="opened", issue=issue("@greenloop fix")))
    labels = [outcome("issues", event(action="labeled", issue=issue(), label={"name": "greenloop"})) for _ in range(5)]
    assert {
        (each.repo.id, each.subject.number) for each in [opened, *labels] if isinstance(each, Request) and each.subject
    } == {(7, 12)}


def test_our_bot_is_known_by_its_id_even_if_the_app_was_renamed() -> None:
    renamed = {"id": 900, "login": "former-name[bot]", "type": "Bot"}
    assert isinstance(outcome("issues", event(action="opened", issue=issue("@greenloop"), sender=renamed)), Ignored)


def test_a_handle_other_than_the_slug_may_address_us() -> None:
    me = Me(app_id=1, slug="acme-greenloop-prod", handles=("greenloop",))
    assert isinstance(outcome("issues", event(action="opened", issue=issue("@greenloop fix")), me), Request)
    assert isinstance(outcome("issues", event(action="opened", issue=issue("@acme-greenloop-prod x")), me), Ignored)


def test_a_mention_with_a_wrong_option_is_a_request_that_carries_its_problem() -> None:
    payload = event(action="created", issue=issue(state="closed", **PULL_ISSUE), comment=comment("@greenloop --cap x"))
    found = outcome("issue_comment", payload)
    assert isinstance(found, Request)
    assert isinstance(found.command, Unclear)
