"""The loop with a model that is a function."""

import json
import os
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import (
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
)
from pydantic_ai.messages import BinaryContent, ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from k8s.native import history
from k8s.native.image_types import LARGEST_IMAGE, MOST_IMAGES
from k8s.native.images import holds_images, read_images
from k8s.native.loop import RunOptions, run
from k8s.native.workspaces.memory import MemoryWorkspace
from k8s.native.workspaces.workspace import Executed


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
        for name, given in answer.items():
            yield {0: DeltaToolCall(name=name, json_args=json.dumps(given), tool_call_id=f"call{said}")}

    return FunctionModel(stream_function=stream)


async def test_a_run_reads_edits_checks_and_answers() -> None:
    workspace = MemoryWorkspace({"a.py": "red\n"}, {"pytest": Executed(0, "1 passed\n", "")})
    heard = Heard()
    script = model(
        {"read_file": {"path": "a.py"}},
        {"edit_file": {"path": "a.py", "edits": [{"old": "red", "new": "green"}]}},
        {"bash": {"command": "pytest"}},
        "It is green.",
    )
    result = await run(RunOptions("Make it green."), workspace, script, heard)
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
    result = await run(RunOptions("Go on.", max_steps=3), MemoryWorkspace(), model({"list_dir": {}}), heard)
    assert (result.steps, result.limit) == (3, "steps")
    assert result.error == "Reached the maximum number of steps (3)."


async def test_a_tool_that_fails_or_does_not_exist_goes_back_to_the_model() -> None:
    heard = Heard()
    script = model({"read_file": {"path": "none"}}, {"no_such_tool": {}}, {"read_file": {"wrong": 1}}, "Gave up.")
    result = await run(RunOptions("Try."), MemoryWorkspace(), script, heard)
    assert result.text.strip() == "Gave up."
    assert [told["ok"] for told in heard.of("tool_completed")] == [False, False, False]


@pytest.mark.parametrize("wrong", [{"read_file": {"wrong": 1}}, {"read_file": {"path": 7}}, {"no_such_tool": {}}])
async def test_a_model_that_keeps_calling_a_tool_wrongly_may_go_on(wrong: dict[str, Any]) -> None:
    heard = Heard()
    result = await run(RunOptions("Try."), MemoryWorkspace({"a": "x"}), model(wrong, wrong, wrong, "At last."), heard)
    assert (result.text.strip(), result.error) == ("At last.", None)
    assert [told["ok"] for told in heard.of("tool_completed")] == [False, False, False]


def moody(*answers: str | dict[str, Any] | Exception) -> FunctionModel:
    """Answers like `model`, one for each request; a failure comes in the middle of an answer."""
    left = iter(answers)

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        answer = next(left)
        if isinstance(answer, Exception):
            yield "Half of "
            raise answer
        if isinstance(answer, str):
            yield answer
        else:
            for name, given in answer.items():
                yield {0: DeltaToolCall(name=name, json_args=json.dumps(given), tool_call_id=f"call{len(messages)}")}

    return FunctionModel(stream_function=stream)


CUT, OVERLOADED = ModelConnectionError("m", "Connection error."), ModelOverloadedError("m", "Overloaded")


async def test_an_answer_that_is_cut_off_is_asked_for_again_and_nothing_is_done_twice() -> None:
    workspace, heard = MemoryWorkspace({"a": "1"}, {"make": Executed(0, "made\n", "")}), Heard()
    script = moody(CUT, {"bash": {"command": "make"}}, OVERLOADED, CUT, "Made it.")
    result = await run(RunOptions("Make."), workspace, script, heard, pauses=(0, 0, 0))
    assert (result.text.strip(), result.error, result.steps) == ("Made it.", None, 2)
    assert workspace.ran == ["make"] and len(heard.of("status")) == 3
    assert len({told["message_id"] for told in heard.of("assistant_delta")}) == 4
    roles = [type(message).__name__ for message in result.messages]
    assert roles == ["ModelRequest", "ModelResponse", "ModelRequest", "ModelResponse"]


@pytest.mark.parametrize(
    ("failures", "asked", "said"),
    [
        ([CUT] * 4, 3, "Connection error."),
        ([ModelAuthenticationError("m", "bad key")], 1, "bad key"),
        ([ModelQuotaExceededError("m", "no credit")], 1, "no credit"),
    ],
)
async def test_what_does_not_pass_is_an_error(failures: list[Exception], asked: int, said: str) -> None:
    heard = Heard()
    result = await run(RunOptions("Go."), MemoryWorkspace(), moody(*failures), heard, pauses=(0, 0))
    assert said in (result.error or "") and len(heard.of("status")) == asked - 1


async def test_an_empty_answer_is_asked_for_again_once_each_time_and_is_no_step() -> None:
    heard, look = Heard(), {"list_dir": dict[str, Any]()}
    script = moody("", look, "", look, "", "Done.")
    result = await run(RunOptions("Go.", max_steps=3), MemoryWorkspace(), script, heard, pauses=())
    assert (result.text, result.error, result.steps) == ("Done.", None, 3)
    assert [told["steps"] for told in heard.of("usage")] == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("before", [0, 1, 2])
async def test_a_model_that_answers_nothing_twice_is_at_its_end_and_not_at_the_cap(before: int) -> None:
    heard, looks = Heard(), [{"list_dir": dict[str, Any]()}] * before
    result = await run(RunOptions("Go."), MemoryWorkspace(), moody(*looks, "", ""), heard, pauses=())
    assert (result.error, result.limit, result.steps) == (
        "The model answered nothing, and nothing again.",
        None,
        before,
    )


async def test_a_conversation_is_kept_after_each_step_and_can_be_gone_on_with() -> None:
    kept: list[Sequence[ModelMessage]] = []
    script = model({"list_dir": {}}, {"list_dir": {}}, "Done.")
    await run(RunOptions("Look."), MemoryWorkspace(), script, Heard(), keep=kept.append)
    assert [len(messages) for messages in kept] == [1, 3, 5, 6]
    for messages in kept[:3]:
        again = await run(RunOptions("And?", history=messages), MemoryWorkspace(), model("x", "x", "x", "Go."), Heard())
        assert again.error is None


async def test_a_read_only_run_has_no_tool_that_changes() -> None:
    workspace, heard = MemoryWorkspace({"a": "x"}), Heard()
    script = model({"write_file": {"path": "a", "content": "y"}}, "I may not.")
    result = await run(RunOptions("Change a.", read_only=True), workspace, script, heard)
    assert (workspace.read_file("a"), result.diff) == ("x", "")


async def test_a_conversation_goes_on_from_disk(tmp_path: Path) -> None:
    first = await run(RunOptions("One."), MemoryWorkspace(), model("First answer."), Heard())
    identity = history.new_id()
    history.write(tmp_path / "kept", identity, first.messages)
    kept = history.read(tmp_path / "kept", identity)
    assert (tmp_path / "kept" / f"{identity}.json").stat().st_mode & 0o777 == 0o600
    second = await run(RunOptions("Two.", history=kept), MemoryWorkspace(), model("x", "Second answer."), Heard())
    assert second.text.strip() == "Second answer."
    texts = [part.content for message in second.messages for part in message.parts if isinstance(part, TextPart)]
    assert [text.strip() for text in texts] == ["First answer.", "Second answer."]
    assert not any(isinstance(part, ToolCallPart) for message in second.messages for part in message.parts)


@pytest.mark.parametrize("identity", ["00000000-none", "../escape", ""])
def test_a_conversation_that_is_not_there_is_said_to_be_unknown(tmp_path: Path, identity: str) -> None:
    with pytest.raises(history.UnknownConversationError, match="No conversation found"):
        history.read(tmp_path, identity)


def several(*answers: dict[str, Any] | str) -> FunctionModel:
    """Says each text, or calls all tools of `{"tool": arguments}` in one answer; text goes as arguments as it is."""

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        said = sum(isinstance(message, ModelResponse) for message in messages)
        answer = answers[min(said, len(answers) - 1)]
        if isinstance(answer, str):
            yield answer
            return
        for at, (name, given) in enumerate(answer.items()):
            text = given if isinstance(given, str) else json.dumps(given)
            yield {at: DeltaToolCall(name=name, json_args=text, tool_call_id=f"call{said}-{at}")}

    return FunctionModel(stream_function=stream)


class Meeting(MemoryWorkspace):
    """Reads and listings wait for each other."""

    def __init__(self) -> None:
        super().__init__({"a": "text"})
        self._both = threading.Barrier(2, timeout=60)

    def read_file(self, path: str, offset: int = 1, limit: int | None = None) -> str:
        self._both.wait()
        return super().read_file(path, offset, limit)

    def list(self, path: str = ".") -> list[str]:
        self._both.wait()
        return super().list(path)


async def test_tools_that_only_read_run_side_by_side() -> None:
    heard, script = Heard(), several({"read_file": {"path": "a"}, "list_dir": {}}, "Done.")
    result = await run(RunOptions("Look."), Meeting(), script, heard)
    assert (result.text, result.steps) == ("Done.", 2)
    assert {told["output"] for told in heard.of("tool_completed")} == {"text", "a"}


async def test_of_parallel_calls_one_that_fails_leaves_the_others_their_results(tmp_path: Path) -> None:
    heard, workspace = Heard(), MemoryWorkspace({"a": "red"}, {"make": Executed(0, "made\n", "")})
    calls = {
        "bash": {"command": "make"},
        "no_such_tool": {},
        "read_file": "{not json",
        "glob": "[1, 2]",
        "grep": '"text"',
        "edit_file": {"path": "a", "edits": [{"old": "red", "new": "green"}]},
    }
    result = await run(RunOptions("Go."), workspace, several(calls, "Done."), heard)
    assert (result.text, result.error) == ("Done.", None)
    assert {told["name"]: told["ok"] for told in heard.of("tool_completed")} == {
        "bash": True, "no_such_tool": False, "read_file": False, "glob": False, "grep": False, "edit_file": True,
    }  # fmt: skip
    assert workspace.read_file("a") == "green" and workspace.ran == ["make"]
    history.write(tmp_path, "kept", result.messages)
    assert history.read(tmp_path, "kept")


TOO_LONG = ModelContextWindowExceededError("m", "prompt is too long")


def asked_with(*answers: str | dict[str, Any] | Exception) -> tuple[FunctionModel, list[list[ModelMessage]]]:
    """Answers like `moody`; what it was asked each time. A request without tools gets the summary `Found it.`"""
    left, asked = iter(answers), list[list[ModelMessage]]()

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        asked.append(list(messages))
        if not info.function_tools:
            yield "Found it."
            return
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            yield answer
        else:
            for name, given in answer.items():
                yield {0: DeltaToolCall(name=name, json_args=json.dumps(given), tool_call_id=f"call{len(asked)}")}

    return FunctionModel(stream_function=stream), asked


def prompts(messages: Sequence[ModelMessage]) -> str:
    return "\n".join(
        str(part.content) for message in messages for part in message.parts if isinstance(part, UserPromptPart)
    )


@pytest.mark.parametrize("trouble", ["near the end of the window", "refused as too long"])
async def test_a_conversation_that_is_too_long_goes_on_with_a_summary(trouble: str) -> None:
    big = {"a": "needle " + "x" * 4_000}
    look = {"read_file": {"path": "a"}}
    near = trouble.startswith("near")
    script, asked = asked_with(look, *(() if near else (TOO_LONG,)), "Done.")
    heard = Heard()
    options = RunOptions("Find the needle.", window=1_000 if near else 1_000_000)
    result = await run(options, MemoryWorkspace(big), script, heard, pauses=())
    assert (result.text, result.error, result.steps) == ("Done.", None, 2)
    summing, last = prompts(asked[-2]), asked[-1]
    assert "needle" in summing
    assert len(last) == 1 and prompts(last).startswith("Find the needle.") and "Found it." in prompts(last)
    assert any("going on with a summary" in told["text"] for told in heard.of("status"))
    assert [told["steps"] for told in heard.of("usage")] == [1, 0, 1]


async def test_a_conversation_that_stays_too_long_is_an_error_and_is_summed_up_once() -> None:
    script, asked = asked_with(TOO_LONG, TOO_LONG, "Never.")
    result = await run(RunOptions("Go."), MemoryWorkspace(), script, Heard(), pauses=())
    assert "prompt is too long" in (result.error or "") and len(asked) == 3


async def test_a_task_that_alone_fills_the_window_is_not_summed_up_at_each_step() -> None:
    look = {"list_dir": dict[str, Any]()}
    script, asked = asked_with(*[look] * 9, "Done.")
    result = await run(RunOptions("word " * 200, window=40), MemoryWorkspace(), script, Heard(), pauses=())
    assert result.text == "Done." and len(asked) == 10 + 3


IMAGE = BinaryContent(b"\x89PNG\r\n\x1a\n...", media_type="image/png")


async def test_a_image_goes_with_the_task_and_not_into_what_is_kept(tmp_path: Path) -> None:
    script, asked = asked_with("I see.")
    result = await run(RunOptions("Look.", images=[IMAGE]), MemoryWorkspace(), script, Heard())
    assert result.text == "I see." and holds_images(asked[0])
    history.write(tmp_path, "x", result.messages)
    kept = history.read(tmp_path, "x")
    assert not holds_images(kept) and "Look." in prompts(kept)


async def test_a_model_that_takes_no_images_is_asked_without_them() -> None:
    refused = ModelRequestRejectedError("m", "image input is not supported")
    script, asked = asked_with(refused, "Done.")
    heard = Heard()
    result = await run(RunOptions("Look.", images=[IMAGE]), MemoryWorkspace(), script, heard, pauses=())
    assert (result.text, result.error) == ("Done.", None)
    assert holds_images(asked[0]) and not holds_images(asked[1])
    script, asked = asked_with(refused, "Never.")
    result = await run(RunOptions("Look."), MemoryWorkspace(), script, heard, pauses=())
    assert "not supported" in (result.error or "") and len(asked) == 1


def test_only_files_that_are_images_are_shown(tmp_path: Path) -> None:
    contents = {
        "a.txt": b"\x89PNG\r\n\x1a\n1", "b.png": b"<svg/>", "c": b"\xff\xd8\xff2", "d": b"RIFF1234WEBP", "e": b"GIF89a",
        "f.png": b"\x89PNG\r\n\x1a\n" + b"x" * LARGEST_IMAGE,
    }  # fmt: skip
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    os.mkfifo(tmp_path / "g.png")
    found = read_images([tmp_path / name for name in (*contents, "g.png", "none.png")])
    assert [each.media_type for each in found] == ["image/png", "image/jpeg", "image/webp", "image/gif"]
    assert len(read_images([tmp_path / "c"] * 9)) == MOST_IMAGES
