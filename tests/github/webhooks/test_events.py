import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

import pytest

from github.webhooks.events import WANTED, BadPayload, parse, wanted
from github.webhooks.identity import Me
from github.webhooks.outcomes import Declined, Hint, Ignored, LifecycleEvent, Request
from github.webhooks.triggers import decide
from tests.github.payloads import examples

ME = Me(app_id=1, slug="greenloop")


def test_every_example_payload_of_github_is_read_and_gets_a_decision() -> None:
    assert len(examples()) == 329
    for event, body in examples():
        outcome = decide(parse(event, body), ME)
        assert isinstance(outcome, Request | Hint | LifecycleEvent | Ignored | Declined), event


def test_every_example_is_parsed_and_decided_a_thousand_times_a_second_or_more() -> None:
    started = time.process_time()
    for event, body in examples():
        decide(parse(event, body), ME)
    assert len(examples()) / (time.process_time() - started) > 1000


def test_the_fields_that_rules_read_are_there() -> None:
    event = parse("issue_comment", next(body for name, body in examples() if name == "issue_comment"))
    assert event.name == "issue_comment"
    assert event.action is not None
    assert event.issue and event.issue.number
    assert event.comment and event.comment.id
    assert event.repository and event.repository.id
    assert event.sender and event.sender.login


@pytest.mark.parametrize("event", sorted(WANTED))
def test_any_field_of_a_wanted_event_may_be_null_at_any_depth(event: str) -> None:
    payloads = [json.loads(body) for name, body in examples() if name == event]
    for payload in {payload.get("action"): payload for payload in payloads}.values():
        with_permissions = {**payload, "installation": {"id": 5, "permissions": {"contents": "read", "issues": None}}}
        decide(parse(event, json.dumps(with_permissions).encode()), ME)
        for holder, key in _places(payload):
            kept, holder[key] = holder[key], None
            decide(parse(event, json.dumps(payload).encode()), ME)
            holder[key] = kept


def _places(value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Every object in a payload with each of its keys."""
    if isinstance(value, list):
        for each in value[:1]:
            yield from _places(each)
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key])
            yield value, key


@pytest.mark.parametrize("event", sorted(WANTED))
def test_an_empty_object_gets_a_decision_too(event: str) -> None:
    assert isinstance(decide(parse(event, b"{}"), ME), Ignored)


def test_a_form_carries_the_same_payload() -> None:
    body = json.dumps({"action": "created", "comment": {"body": "a & b = ü +%"}}).encode()
    form = b"payload=" + quote_plus(body).encode()
    assert parse("issue_comment", form) == parse("issue_comment", body)


@pytest.mark.parametrize(
    "body",
    [b"", b"x", b"[]", b'"text"', b"null", b"1", b"{", b"payload=", b"payload=x", b"\xff\xfe", b"[" * 100_000],
)
def test_what_is_no_json_object_is_refused_by_name(body: bytes) -> None:
    with pytest.raises(BadPayload, match="issues"):
        parse("issues", body)


def test_a_field_of_an_impossible_type_is_refused_by_name() -> None:
    with pytest.raises(BadPayload, match=r"\$.issue"):
        parse("issues", b'{"issue": "seven"}')


def test_broken_utf8_and_lone_surrogates_are_read_around() -> None:
    assert parse("issues", b'{"issue": {"title": "a\xff"}}').issue is not None
    lone = parse("issues", b'{"issue": {"title": "x\\ud83d y"}}')
    assert lone.issue is not None
    assert (lone.issue.title or "").encode() == b"x? y"


@pytest.mark.parametrize(
    ("event", "action", "answer"),
    [
        ("issue_comment", "created", True),
        ("issue_comment", "pinned", False),
        ("issues", "milestoned", False),
        ("push", None, True),
        ("status", None, True),
        ("check_run", "created", False),
        ("workflow_run", "requested", False),
        ("star", "created", False),
        ("ping", None, False),
        ("", None, False),
    ],
)
def test_what_nothing_could_want_is_told_by_event_and_action_alone(
    event: str, action: str | None, answer: bool
) -> None:
    assert wanted(event, action) is answer


def test_whatever_is_dropped_unread_would_have_been_ignored() -> None:
    for event, body in examples():
        parsed = parse(event, body)
        if not wanted(event, parsed.action):
            assert isinstance(decide(parsed, ME), Ignored), (event, parsed.action)
