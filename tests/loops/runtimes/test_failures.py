"""Every way in which every agent can fail: its kind, the words for people, and how it goes on."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.gateway.relay import UNREACHABLE
from loops.runtimes import registry
from loops.runtimes.base import Outcome, ProcessEnd
from loops.runtimes.classify import classify
from loops.runtimes.failures import WORDS, FailureKind, Sign, Told
from loops.sessions.explanations import explain
from tests.loops.runtimes.replay import replay

AGENTS = tuple(agent.name for agent in registry.agents())

# kind: HTTP status, the provider's name of it, its sentence, the way on
REFUSALS: dict[FailureKind, tuple[int | None, str, str, str]] = {
    FailureKind.CREDENTIALS: (401, "invalid_api_key", "Incorrect API key provided.", "account"),
    FailureKind.ACCESS: (403, "permission_error", "Your project may not use it.", "stop"),
    FailureKind.MODEL: (404, "model_not_found", "The model `no-such` does not exist.", "stop"),
    FailureKind.QUOTA: (402, "insufficient_quota", "You are out of credits.", "account"),
    FailureKind.RATE_LIMIT: (429, "rate_limit_error", "Too many requests, try again in 20s.", "later"),
    FailureKind.OVERLOADED: (503, "overloaded_error", "The service is overloaded.", "later"),
    FailureKind.CONTEXT: (400, "context_length_exceeded", "The maximum context length is 8192 tokens.", "fresh"),
    FailureKind.POLICY: (400, "content_policy_violation", "Flagged as unsafe.", "stop"),
    FailureKind.NETWORK: (None, "", "Unable to connect. Is the computer able to access the url? ECONNREFUSED", "later"),
    FailureKind.TOOL: (None, "", "MCP server files crashed: spawn npx ENOENT", "stop"),
    FailureKind.BUG: (None, "", "Cannot read properties of undefined (reading 'x')", "stop"),
    FailureKind.KILLED: (None, "", "", "stop"),
}
Stream = Callable[[int | None, str, str], tuple[list[dict[str, Any]], int]]


def codex(status: int | None, code: str, said: str) -> tuple[list[dict[str, Any]], int]:
    body = json.dumps({"error": {"message": said, "type": code, "code": code}})
    text = f"unexpected status {status} Some Words: {body}, url: http://models.example/v1/responses" if status else said
    return [{"type": "thread.started", "thread_id": "x"}, {"type": "turn.failed", "error": {"message": text}}], 1


def opencode(status: int | None, code: str, said: str) -> tuple[list[dict[str, Any]], int]:
    body = json.dumps({"error": {"message": said, "type": code}})
    data: dict[str, Any] = {"message": said, "statusCode": status, "responseHeaders": {}, "responseBody": body}
    return [{"type": "error", "sessionID": "s", "error": {"name": "APIError", "data": data}}], 1


def claude(status: int | None, code: str, said: str) -> tuple[list[dict[str, Any]], int]:
    text = f"API Error: {status} {said}" if status else said
    message = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": text}]}
    return [
        {"type": "assistant", "message": message, "error": "unknown", "api_error_type": code},
        {"type": "result", "subtype": "success", "is_error": True, "api_error_status": status, "result": text},
    ], 1


def gemini(status: int | None, code: str, said: str) -> tuple[list[dict[str, Any]], int]:
    body = json.dumps({"error": {"code": status, "message": said, "status": code}})
    fault = {"type": "unknown", "message": f"[API Error: {body}]" if status else said}
    return [{"type": "result", "status": "error", "error": fault, "stats": {}}], (status or 1) & 255


def native(status: int | None, code: str, said: str) -> tuple[list[dict[str, Any]], int]:
    named = f" ({code})" if code else ""
    text = f"The model's API answered {status}{named}: {said}" if status else said
    return [{"kind": "error", "message": text, "final": True}], 1


STREAMS: dict[str, Stream] = {each.__name__: each for each in (codex, opencode, claude, gemini, native)}


def ended(agent: str, kind: FailureKind) -> Outcome:
    status, code, said, _ = REFUSALS[kind]
    lines, exit_code = STREAMS[agent](status, code, said)
    if kind is FailureKind.KILLED:
        _, outcome = replay(agent, [], ProcessEnd(None, reason="timeout", message="It took longer than 60 seconds."))
    else:
        _, outcome = replay(agent, [json.dumps(line) for line in lines], ProcessEnd(exit_code))
    return outcome


@pytest.mark.parametrize("kind", FailureKind)
@pytest.mark.parametrize("agent", AGENTS)
def test_each_failure_of_each_agent_has_its_kind_its_words_and_its_way_on(agent: str, kind: FailureKind) -> None:
    outcome = ended(agent, kind)
    assert outcome.failure is not None and outcome.failure.kind is kind, outcome
    assert WORDS[kind].way == REFUSALS[kind][3]
    told = explain(kind)
    what, then = told.what, told.next
    assert what == WORDS[kind].what and "@greenloop retry" in then
    assert outcome.error == outcome.failure.message and outcome.error


@pytest.mark.parametrize("agent", AGENTS)
def test_a_model_that_our_gateway_cannot_reach_is_unreachable_and_not_overloaded(agent: str) -> None:
    lines, exit_code = STREAMS[agent](502, "api_error", f"{UNREACHABLE}: ClientConnectorError.")
    _, outcome = replay(agent, [json.dumps(line) for line in lines], ProcessEnd(exit_code))
    assert outcome.failure is not None and outcome.failure.kind is FailureKind.NETWORK


@pytest.mark.parametrize("kind", [kind for kind, (_, _, said, _) in REFUSALS.items() if said])
@pytest.mark.parametrize("agent", AGENTS)
def test_the_useful_line_is_kept_and_not_the_object_around_it(agent: str, kind: FailureKind) -> None:
    error = ended(agent, kind).error or ""
    assert REFUSALS[kind][2] in error
    assert '{"error"' not in error


@pytest.mark.parametrize("agent", AGENTS)
def test_a_time_to_wait_is_read_where_the_provider_tells_one(agent: str) -> None:
    failure = ended(agent, FailureKind.RATE_LIMIT).failure
    assert failure is not None and failure.retry_after == 20


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        (Told('[API Error: {"error":{"code":429,"details":[{"@type":"x","retryDelay":"34.5s"}]}}]'), 34.5),
        (Told("Please retry in 1500ms", status=429), 1.5),
        (Told("Please try again in 3m", status=429), 180),
        (Told("slow down", status=429, retry_after=7), 7),
        (Told("slow down", status=429), None),
        (Told('[API Error: {"error":{"code":429,"details":[{"retryDelay":"soon"},7]}}]'), None),
    ],
)
def test_times_to_wait(told: Told, seconds: float | None) -> None:
    failure = classify((), told)
    assert (failure.kind, failure.retry_after) == (FailureKind.RATE_LIMIT, seconds)


def test_opencodes_headers_tell_the_time_to_wait() -> None:
    data = {"message": "slow", "statusCode": 429, "responseHeaders": {"retry-after": "120"}}
    line = json.dumps({"type": "error", "sessionID": "s", "error": {"name": "APIError", "data": data}})
    _, outcome = replay("opencode", [line], ProcessEnd(1))
    assert outcome.failure is not None and outcome.failure.retry_after == 120


@pytest.mark.parametrize(
    ("agent", "exit_code", "stderr", "kind", "said"),
    [
        ("codex", 1, "Error loading config.toml: wire_api = chat is no longer supported\nin `model_providers.x`\n ^^\n",
         FailureKind.BUG, "wire_api = chat is no longer supported"),
        ("opencode", 1, "\x1b[91mError: \x1b[0mModel not found: openai/no-such.\n    at x (/a/b.js:1:2)\n}\n",
         FailureKind.MODEL, "Model not found: openai/no-such"),
        ("gemini", 173, "[API Error: Too many requests.\nSuggested retry after 3s.]\nPlease wait and try again later. "
         "To increase your limits, request a quota increase.\n",
         FailureKind.RATE_LIMIT, "Please wait and try again later"),
        ("gemini", 41, "Warning: 256-color support not detected.\nInvalid auth method selected.\n",
         FailureKind.CREDENTIALS, "Invalid auth method selected."),
        ("claude", 143, "", FailureKind.KILLED, "exited with code 143"),
        ("claude", -9, "", FailureKind.KILLED, "killed by signal 9"),
    ],
)  # fmt: skip
def test_what_a_cli_says_on_stderr_only_is_understood_too(
    agent: str, exit_code: int, stderr: str, kind: FailureKind, said: str
) -> None:
    _, outcome = replay(agent, [], ProcessEnd(exit_code, stderr_tail=stderr))
    assert outcome.failure is not None and outcome.failure.kind is kind, outcome
    assert said in (outcome.error or "")


def test_an_error_that_passed_says_nothing_of_a_later_end() -> None:
    lines, _ = opencode(429, "rate_limit_error", "slow down")
    done = [
        {"type": "step_start", "sessionID": "s"},
        {"type": "text", "sessionID": "s", "part": {"text": "Done."}},
        {"type": "step_finish", "sessionID": "s", "part": {"reason": "stop"}},
    ]
    _, outcome = replay("opencode", [json.dumps(line) for line in [*lines, *done]], ProcessEnd(1))
    assert (outcome.error, outcome.failure) == (None, None)


def test_a_sign_wants_all_that_it_names() -> None:
    sign = Sign(FailureKind.ACCESS, status=(403,), code="authentication")
    assert sign.fits(Told(status=403, code="authentication_failed"))
    assert not sign.fits(Told(status=401, code="authentication_failed"))
    assert not sign.fits(Told(status=403))


@pytest.mark.parametrize("text", ["{" * 50_000, '{"error": [1]}', '{"error": null}', '{"error": "x"', "", "{}", "[]"])
def test_an_odd_error_is_classified_all_the_same(text: str) -> None:
    assert classify((), Told(text, exit_code=1)).kind is FailureKind.BUG
