"""Streams recorded with the real CLIs (see record.py): what each says, in one vocabulary."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from loops.runtimes import registry
from loops.runtimes.base import ProcessEnd, RuntimeEvent
from tests.loops.runtimes.replay import FIXTURES, fixture, payloads, replay, spent

CLIS = tuple(runtime.name for runtime in registry.agents() if runtime.package)
SHARED = Path(__file__).parents[4] / "shared" / "facts" / "recordings"
RECORDINGS = Path(os.environ.get("GREENLOOP_RECORDINGS") or SHARED)
CASES = [(folder.name, path.stem) for folder in sorted(FIXTURES.iterdir()) for path in sorted(folder.glob("*.jsonl"))]


def accounted(cli: str, line: str, events: list[RuntimeEvent]) -> bool:
    """A line is accounted for by events, or is a piece of a live answer that is still being gathered."""
    return bool(events) or (cli == "claude" and json.loads(line)["type"] == "stream_event")


@pytest.mark.parametrize(("cli", "case"), CASES)
def test_every_recorded_line_is_accounted_for(cli: str, case: str) -> None:
    lines, ending = fixture(cli, case)
    events, outcome = replay(cli, lines, ending)
    assert lines
    for line, told in zip(lines, events, strict=True):
        assert accounted(cli, line, told), line
        assert not any(event.kind == "status" and event.payload["text"].startswith("{") for event in told), line
        json.dumps([event.payload for event in told])
    assert outcome.session_id == payloads(events, "session")[0]["id"]


@pytest.mark.parametrize("cli", CLIS)
def test_work_is_told_in_one_vocabulary(cli: str) -> None:
    events, outcome = replay(cli, *fixture(cli, "work"))
    assert (outcome.message, outcome.error) == ("All done.", None)
    assert len(payloads(events, "session")) == 1
    assert [told["text"] for told in payloads(events, "assistant_completed")] == ["I'll look at it.", "All done."]
    started, completed = payloads(events, "tool_started"), payloads(events, "tool_completed")
    assert [told["id"] for told in started] == [told["id"] for told in completed]
    assert [told["name"] for told in started] == [told["name"] for told in completed]
    # Gemini CLI tells its model alone how a command ended, and of a written file not whether it is new
    silent = cli == "gemini"
    assert [told["ok"] for told in completed] == [True, True, True, silent]
    assert "green" in completed[-1]["output"]
    changes = [(Path(told["path"]).name, told["change"]) for told in payloads(events, "file_edit")]
    assert changes == [("a.txt", "update"), ("b.txt", "update" if silent else "add")]
    command = payloads(events, "command")[-1]
    assert command["exit_code"] == (None if silent else 3) and "cat a.txt; exit 3" in command["command"]


@pytest.mark.parametrize("cli", CLIS)
def test_usage_adds_up_to_what_the_model_server_told(cli: str) -> None:
    events, _ = replay(cli, *fixture(cli, "work"))
    total = spent(events)
    assert (total["steps"], total["input"], total["cached"], total["output"]) == (5, 700, 200, 100)


@pytest.mark.parametrize(("cli", "counted"), [("codex", {}), ("claude", {"cost": 0.00404})])
def test_running_totals_of_a_resumed_conversation_are_not_counted_twice(cli: str, counted: dict[str, float]) -> None:
    first, ended = replay(cli, *fixture(cli, "work"))
    second, _ = replay(cli, *fixture(cli, "resumed"), totals=ended.totals)
    total = spent(second)
    assert (total["steps"], total["input"], total["cached"], total["output"]) == (1, 140, 40, 20)
    assert ended.totals == {"input": 700, "cached": 200, "output": 100, "reasoning": 0, **counted}
    if counted:
        assert total["cost"] == pytest.approx(spent(first)["cost"] / 5)


def test_tokens_of_claudes_sub_agents_count_and_those_of_a_turn_before_do_not() -> None:
    def models(*numbers: tuple[int, int, int]) -> dict[str, dict[str, int]]:
        names = ("inputTokens", "cacheReadInputTokens", "outputTokens")
        return {f"m{at}": dict(zip(names, each, strict=True)) for at, each in enumerate(numbers)}

    def result(**about: Any) -> str:
        usage = {"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": 20}
        return json.dumps({"type": "result", "subtype": "success", "result": "Done.", "usage": usage, **about})

    first, ended = replay("claude", [result(modelUsage=models((100, 40, 20), (900, 60, 80)))], ProcessEnd(0))
    assert (spent(first)["input"], spent(first)["cached"], spent(first)["output"]) == (1100, 100, 100)
    again = result(modelUsage=models((150, 60, 30), (900, 60, 80)))
    second, _ = replay("claude", [again], ProcessEnd(0), totals=ended.totals)
    assert (spent(second)["input"], spent(second)["cached"], spent(second)["output"]) == (70, 20, 10)
    # totals that an older version kept hold the cost alone
    older, _ = replay("claude", [again], ProcessEnd(0), totals={"cost": 1.0})
    assert spent(older)["input"] == 140


def test_totals_below_those_before_mean_a_conversation_counted_anew() -> None:
    lines, ending = fixture("codex", "work")
    events, _ = replay("codex", lines, ending, totals={"input": 9_000, "cached": 10, "output": 10})
    assert spent(events)["input"] == 700


@pytest.mark.parametrize("cli", CLIS)
def test_a_refused_key_is_an_error_with_the_reason(cli: str) -> None:
    events, outcome = replay(cli, *fixture(cli, "refused"))
    assert outcome.message == "" and outcome.error is not None
    assert "401" in outcome.error or "scripted refusal" in outcome.error
    assert payloads(events, "error")
    assert not outcome.retry_fresh


@pytest.mark.parametrize("cli", CLIS)
def test_an_overload_that_passes_is_no_error(cli: str) -> None:
    events, outcome = replay(cli, *fixture(cli, "waited"))
    assert (outcome.message, outcome.error) == ("Had to wait.", None)
    assert not any(told["final"] for told in payloads(events, "error"))


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize(
    "line",
    [
        "",
        "plain words",
        "{",
        "[]",
        "null",
        '{"type": 7}',
        '{"type": "item.completed"}',
        '{"type":"text","part":null}',
        '{"type":"assistant","message":{"content":7}}',
        '{"type":"result","usage":[]}',
        '{"type":"brand.new"}',
        "[" * 99_999,
        '{"type":"tool_use","part":{"state":"x","tool":1,"callID":[]}}',
        '{"cut off at 4 MiB": "' + "x" * 100_000,
    ],
    ids=range(14),
)
def test_a_line_that_cannot_be_read_is_a_status_and_never_a_crash(cli: str, line: str) -> None:
    parser = registry.get(cli).parser()
    before = parser.state()
    events = parser.parse(line)
    assert [event.kind for event in events] in (["status"], ["usage", "error"], ["error"])
    assert all(len(json.dumps(event.payload)) < 200_000 for event in events)
    assert parser.state().keys() == before.keys()
    assert parser.outcome(ProcessEnd(1)).error


@pytest.mark.parametrize("cli", CLIS)
def test_an_output_of_a_megabyte_is_clipped_in_the_event(cli: str) -> None:
    lines: dict[str, Any] = {
        "codex": {
            "type": "item.completed",
            "item": {
                "id": "item_1",
                "type": "command_execution",
                "command": "yes",
                "aggregated_output": "y\n" * 500_000,
                "exit_code": 0,
                "status": "completed",
            },
        },
        "opencode": {
            "type": "tool_use",
            "part": {
                "tool": "bash",
                "callID": "c",
                "state": {"status": "completed", "input": {"command": "yes"}, "output": "y\n" * 500_000},
            },
        },
        "claude": {
            "type": "user",
            "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "y\n" * 500_000}]},
        },
        "gemini": {"type": "tool_result", "tool_id": "t", "status": "success", "output": "y\n" * 500_000},
    }
    events = registry.get(cli).parser().parse(json.dumps(lines[cli]))
    output = next(event.payload["output"] for event in events if event.kind == "tool_completed")
    assert len(output) < 31_000 and "characters left out" in output


@pytest.mark.parametrize("cli", CLIS)
def test_a_turn_that_was_ended_says_so(cli: str) -> None:
    lines, _ = fixture(cli, "work")
    cut = lines[: len(lines) // 2]
    _, outcome = replay(cli, cut, ProcessEnd(None, reason="timeout"))
    assert outcome.error is not None and "was ended (timeout)" in outcome.error
    assert outcome.session_id


@pytest.mark.parametrize(
    ("cli", "stderr"),
    [
        ("codex", "Error: thread/resume: thread/resume failed: no rollout found for thread id 01a2 (code -32600)"),
        ("codex", "Error: thread/resume: thread/resume failed: failed to read thread: rollout is empty (code -32603)"),
        ("codex", "Error: thread/resume: thread/resume failed: stream did not contain valid UTF-8 (code -32603)"),
        ("opencode", "\x1b[91m\x1b[1mError: \x1b[0mSession not found"),
        ("claude", "No conversation found with session ID: 00000000-0000-4000-8000-000000000000"),
        ("claude", "Failed to resume session: EISDIR: illegal operation on a directory, read"),
    ],
)
def test_a_conversation_that_is_gone_or_broken_can_be_begun_anew(cli: str, stderr: str) -> None:
    _, outcome = replay(cli, [], ProcessEnd(1, stderr_tail=stderr))
    assert outcome.retry_fresh and outcome.session_id is None and outcome.error is not None


@pytest.mark.parametrize(("subtype", "limit"), [("error_max_turns", "steps"), ("error_max_budget_usd", "cost")])
def test_claudes_own_limits_are_named(subtype: str, limit: str) -> None:
    line = json.dumps({"type": "result", "subtype": subtype, "is_error": True, "errors": ["Reached maximum (2)"]})
    _, outcome = replay("claude", [line], ProcessEnd(1))
    assert (outcome.limit, outcome.error) == (limit, "Reached maximum (2)")


def test_codex_falls_back_to_its_last_message_file() -> None:
    lines = ['{"type":"thread.started","thread_id":"x"}', '{"type":"turn.completed","usage":{"input_tokens":1}}']
    _, outcome = replay(
        "codex", lines, ProcessEnd(0, files={".greenloop/agents/s/codex/last-message.txt": b"From the file.\n"})
    )
    assert (outcome.message, outcome.error) == ("From the file.", None)


def test_a_live_answer_of_claude_comes_in_pieces_that_repeat_nothing() -> None:
    def line(kind: str, **more: Any) -> str:
        return json.dumps({"type": "stream_event", "event": {"type": kind, **more}})

    pieces = ["Hello", " there.\n", "x" * 150, "y" * 150, "end"]
    lines = [line("message_start", message={"id": "m1"})]
    lines += [line("content_block_delta", delta={"type": "text_delta", "text": piece}) for piece in pieces]
    lines += [line("content_block_stop")]
    events, _ = replay("claude", lines, ProcessEnd(0))
    told = payloads(events, "assistant_delta")
    assert "".join(delta["text"] for delta in told) == "".join(pieces)
    assert len(told) == 3 and {delta["message_id"] for delta in told} == {"m1"}


@pytest.mark.skipif(
    not RECORDINGS.is_dir(), reason=f"no recordings in {RECORDINGS} (GREENLOOP_RECORDINGS names others)"
)
@pytest.mark.parametrize("cli", CLIS)
def test_other_peoples_recordings_replay_with_every_line_accounted_for(cli: str) -> None:
    paths = sorted((RECORDINGS / cli).glob("*.jsonl"))
    assert paths
    for path in paths:
        lines = path.read_text().splitlines()
        events, _ = replay(cli, lines, ProcessEnd(0))
        for line, told in zip(lines, events, strict=True):
            assert accounted(cli, line, told), (path, line[:200])
            assert not any(event.kind == "status" and event.payload["text"].startswith("{") for event in told), line


THOUGHT: dict[str, list[dict[str, Any]]] = {
    "codex": [
        {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 7, "reasoning_output_tokens": 4}},
    ],
    "opencode": [
        {
            "type": "step_finish",
            "sessionID": "s",
            "part": {"reason": "stop", "tokens": {"input": 9, "output": 3, "reasoning": 4}},
        },
    ],
    "claude": [
        {
            "type": "result",
            "subtype": "success",
            "modelUsage": {"m": {"inputTokens": 9, "outputTokens": 7, "thinkingTokens": 4}},
        },
    ],
    "gemini": [
        {"type": "result", "status": "success", "stats": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 16}},
    ],
    "native": [{"kind": "usage", "steps": 1, "input": 9, "cached": 0, "output": 7, "reasoning": 4, "cost": None}],
}


@pytest.mark.parametrize("cli", THOUGHT)
def test_tokens_of_reasoning_are_a_part_of_the_output_and_told_apart(cli: str) -> None:
    events, _ = replay(cli, [json.dumps(line) for line in THOUGHT[cli]], ProcessEnd(0))
    told = spent(events)
    assert (told["input"], told["output"], told["reasoning"]) == (9, 7, 4)
