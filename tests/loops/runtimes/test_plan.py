"""Check lists: each agent's own words for one become the same event."""

import json
from typing import Any

import pytest

from loops.runtimes.base import ProcessEnd, RuntimeEvent
from loops.runtimes.plan import LONGEST, MOST
from tests.loops.runtimes.replay import fixture, payloads, replay

FIRST, SECOND = "Look at the light", "Make it green"
RECORDED = {
    # task by task
    "claude": [
        [(FIRST, "pending")],
        [(FIRST, "pending"), (SECOND, "pending")],
        [(FIRST, "active"), (SECOND, "pending")],
        [(FIRST, "done"), (SECOND, "pending")],
        [(FIRST, "done"), (SECOND, "active")],
    ],
    # it does not say what it is at
    "codex": [[(FIRST, "pending"), (SECOND, "pending")], [(FIRST, "done"), (SECOND, "pending")]],
    "opencode": [[(FIRST, "active"), (SECOND, "pending")], [(FIRST, "done"), (SECOND, "active")]],
}


def lists(events: list[list[RuntimeEvent]]) -> list[list[tuple[str, str]]]:
    return [[(step["text"], step["state"]) for step in told["items"]] for told in payloads(events, "plan")]


def told(cli: str, *lines: dict[str, Any]) -> list[list[tuple[str, str]]]:
    events, _ = replay(cli, [json.dumps(line) for line in lines], ProcessEnd(0))
    return lists(events)


def claude(*calls: tuple[str, dict[str, Any], str, bool], parent: str | None = None) -> list[dict[str, Any]]:
    """The lines of calls: tool, input, what it answered, and whether that is an error."""
    lines: list[dict[str, Any]] = []
    for at, (name, given, output, bad) in enumerate(calls):
        use = {"type": "tool_use", "id": f"c{at}", "name": name, "input": given}
        result = {"type": "tool_result", "tool_use_id": f"c{at}", "content": output, "is_error": bad}
        lines.append({"type": "assistant", "parent_tool_use_id": parent, "message": {"id": "m", "content": [use]}})
        lines.append({"type": "user", "parent_tool_use_id": parent, "message": {"content": [result]}})
    return lines


@pytest.mark.parametrize("cli", RECORDED)
def test_a_recorded_check_list_is_told_as_it_changes(cli: str) -> None:
    events, outcome = replay(cli, *fixture(cli, "planned"))
    assert (lists(events), outcome.error) == (RECORDED[cli], None)


def test_gemini_clis_check_list_is_told() -> None:
    listed = [{"description": "Look", "status": "completed"}, {"description": "Mend", "status": "in_progress"}]
    use = {"type": "tool_use", "tool_name": "write_todos", "tool_id": "w", "parameters": {"todos": listed}}
    good = {"type": "tool_result", "tool_id": "w", "status": "success", "output": "ok"}
    assert told("gemini", use, good) == [[("Look", "done"), ("Mend", "active")]]
    assert told("gemini", use, {**good, "status": "error"}) == []


def test_our_own_agents_check_list_is_told() -> None:
    listed = [{"text": "Look", "state": "done"}, {"text": "Mend", "state": "active"}]
    assert told("native", {"kind": "plan", "items": listed}) == [[("Look", "done"), ("Mend", "active")]]


def test_a_list_that_a_former_claude_code_writes_whole_is_told() -> None:
    listed = [{"content": "Look", "status": "completed", "activeForm": "Looking"}, {"content": "Mend"}]
    assert told("claude", *claude(("TodoWrite", {"todos": listed}, "Todos have been modified", False))) == [
        [("Look", "done"), ("Mend", "pending")]
    ]


def test_a_change_that_claude_code_refused_changes_nothing() -> None:
    seen = told(
        "claude",
        *claude(
            ("TaskCreate", {"subject": "Look"}, "Task #7 created successfully: Look", False),
            ("TaskUpdate", {"taskId": "7", "status": "completed"}, "No such task", True),
            ("TaskUpdate", {"taskId": "9", "status": "completed"}, "Updated task #9 status", False),
            ("TaskUpdate", {"taskId": "7", "status": "deleted", "subject": "Look twice"}, "Updated task #7", False),
        ),
    )
    assert seen == [[("Look", "pending")], [("Look", "pending")], [("Look twice", "dropped")]]


def test_the_list_of_a_sub_agent_is_not_the_turns() -> None:
    assert told("claude", *claude(("TodoWrite", {"todos": [{"content": "x"}]}, "ok", False), parent="a")) == []


@pytest.mark.parametrize(
    ("cli", "line"),
    [
        ("codex", {"type": "item.updated", "item": {"id": "i", "type": "todo_list", "items": "ODD"}}),
        ("native", {"kind": "plan", "items": "ODD"}),
        (
            "opencode",
            {
                "type": "tool_use",
                "sessionID": "s",
                "part": {
                    "tool": "todowrite",
                    "callID": "c",
                    "state": {"status": "completed", "input": {"todos": "ODD"}},
                },
            },
        ),
        ("gemini", {"type": "tool_use", "tool_name": "write_todos", "tool_id": "w", "parameters": {"todos": "ODD"}}),
    ],
)
@pytest.mark.parametrize("odd", [None, 7, "x", [7, None, []], [{}], [{"text": {"a": 1}, "state": ["b"]}], {"a": []}])
def test_an_odd_list_ends_no_turn(cli: str, line: dict[str, Any], odd: object) -> None:
    text = json.dumps(line).replace('"ODD"', json.dumps(odd))
    events, _ = replay(cli, [text], ProcessEnd(0))
    assert all(isinstance(step["text"], str) for each in payloads(events, "plan") for step in each["items"])


def test_a_list_is_bounded_in_steps_and_in_the_length_of_each() -> None:
    listed = [{"text": "word\nword " * 1_000, "completed": False}] * 1_000
    (seen,) = told("codex", {"type": "item.updated", "item": {"id": "i", "type": "todo_list", "items": listed}})
    assert len(seen) == MOST
    assert {len(text) for text, _ in seen} == {LONGEST} and "\n" not in seen[0][0]
