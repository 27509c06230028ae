"""The loop with a model that is a function."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from k8s.native import history
from k8s.native.loop import Options, run
from k8s.native.memory import MemoryWorkspace
from k8s.native.workspace import Executed


class Heard:
    """What was emitted."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, kind: str, **payload: Any) -> None:
        self.events.append((kind, payload))

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The payloads of one kind."""
        return [payload for told, payload in self.events if told == kind]


def model(*answers: str | dict[str, Any]) -> FunctionModel:
    """Says each text, or calls each `{"tool": arguments}`, in order; the last one again and again."""

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        said = sum(isinstance(message, ModelResponse) for message in messages)
        answer = answers[min(said, len(answers) - 1)]
        if isinstance(answer, str):
            for piece in answer.split(" "):
                yield f"{piece} "
            return
        import json

        for name, given in answer.items():
            yield {0: DeltaToolCall(name=name, json_args=json.dumps(given), tool_call_id=f"call{said}")}

    return FunctionModel(stream_function=stream)


async def test_a_run_reads_edits_checks_and_answers() -> None:
    workspace = MemoryWorkspace({"a.py": "red\n"}, {"pytest": Executed(0, "1 passed\n", "")})
    heard = Heard()
    script = model(
        {"read_file": {"path": "a.py"}},
        {"edit_file": {"path": "a.py", "old": "red", "new": "green"}},
        {"bash": {"command": "pytest"}},
        "It is green.",
    )
    result = await run(Options("Make it green."), workspace, script, heard)
    assert (result.text.strip(), result.steps, result.error) == ("It is green.", 4, None)
    assert result.changed_files == ["a.py"] and "+green" in result.diff
    assert [told["name"] for told in heard.of("tool_started")] == ["read_file", "edit_file", "bash"]
    assert [told["ok"] for told in heard.of("tool_completed")] == [True, True, True]
    assert heard.of("file_edit") == [{"path": "a.py", "change": "update", "bytes": 6}]
    assert "".join(told["text"] for told in heard.of("assistant_delta")) == "It is green. "
    assert sum(told["steps"] for told in heard.of("usage")) == 4
    assert sum(told["output"] for told in heard.of("usage")) == result.usage["output"] > 0


async def test_steps_are_capped() -> None:
    heard = Heard()
    result = await run(Options("Go on.", max_steps=3), MemoryWorkspace(), model({"list_dir": {}}), heard)
    assert (result.steps, result.limit) == (3, "steps")
    assert result.error == "Reached the maximum number of steps (3)."


async def test_a_tool_that_fails_or_does_not_exist_goes_back_to_the_model() -> None:
    heard = Heard()
    script = model({"read_file": {"path": "none"}}, {"no_such_tool": {}}, {"read_file": {"wrong": 1}}, "Gave up.")
    result = await run(Options("Try."), MemoryWorkspace(), script, heard)
    assert result.text.strip() == "Gave up."
    assert [told["ok"] for told in heard.of("tool_completed")] == [False, False, False]


async def test_a_read_only_run_has_no_tool_that_changes() -> None:
    workspace, heard = MemoryWorkspace({"a": "x"}), Heard()
    script = model({"write_file": {"path": "a", "content": "y"}}, "I may not.")
    result = await run(Options("Change a.", read_only=True), workspace, script, heard)
    assert (workspace.read_file("a"), result.diff) == ("x", "")


async def test_a_conversation_goes_on_from_disk(tmp_path: Path) -> None:
    first = await run(Options("One."), MemoryWorkspace(), model("First answer."), Heard())
    identity = history.new_id()
    history.write(tmp_path / "kept", identity, first.messages)
    kept = history.read(tmp_path / "kept", identity)
    assert (tmp_path / "kept" / f"{identity}.json").stat().st_mode & 0o777 == 0o600
    second = await run(Options("Two.", history=kept), MemoryWorkspace(), model("x", "Second answer."), Heard())
    assert second.text.strip() == "Second answer."
    texts = [part.content for message in second.messages for part in message.parts if isinstance(part, TextPart)]
    assert [text.strip() for text in texts] == ["First answer.", "Second answer."]
    assert not any(isinstance(part, ToolCallPart) for message in second.messages for part in message.parts)


@pytest.mark.parametrize("identity", ["00000000-none", "../escape", ""])
def test_a_conversation_that_is_not_there_is_said_to_be_unknown(tmp_path: Path, identity: str) -> None:
    with pytest.raises(history.UnknownConversationError, match="No conversation found"):
        history.read(tmp_path, identity)
