"""Our own loop as a program in a box, with a script instead of a model."""

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from k8s.runner import protocol
from loops.runtimes import registry
from loops.runtimes.base import Credential, ProcessEnd, TurnRequest
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Drop, Raw, Read, Refusal, Reply, Shell, Step, Use, Write
from loops.runtimes.scripted.server import TOO_LONG, ModelServer
from loops.runtimes.spec import Wire
from tests.loops.runtimes.box import Box
from tests.loops.runtimes.real import KEY, RealCli

PROGRAM = f"{sys.executable} -P -m k8s.native"


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealCli]:
    """All but the wall clock, which is the runner's, and the cap on steps, which needs no process."""
    cases = ("work", "resumed", "refused", "cancelled")
    cli = RealCli("native", tmp_path_factory.mktemp("native"), program=PROGRAM, cases=cases)
    yield cli
    cli.join()


def test_it_edits_and_finishes(native: RealCli) -> None:
    done = native.wait("work")
    assert (done.result.exit_code, done.outcome.message, done.outcome.error) == (0, "All done.", None)
    assert done.contents == {"a.txt": b"green\n"}
    assert [told["exit_code"] for told in done.payloads("command")] == [3, 0]
    assert sum(told["input"] for told in done.payloads("usage")) == 5 * 140
    assert max(len(str(told["output"])) for told in done.payloads("tool_completed")) <= 30_000


def test_it_resumes(native: RealCli) -> None:
    done = native.wait("resumed")
    assert done.outcome.message == "Second answer."
    assert any("All done." in said.text for said in done.asked[0].said)


def test_a_refused_key_is_an_error(native: RealCli) -> None:
    done = native.wait("refused")
    assert done.result.exit_code == 1 and done.outcome.error and "401" in done.outcome.error


def test_nothing_survives_a_cancel_in_the_middle_of_a_tool(native: RealCli) -> None:
    done = native.wait("cancelled")
    assert (done.result.reason, done.survivors) == (protocol.CANCELLED, set())
    assert done.result.exit_code == 130


WIRES: dict[Wire, str] = {"chat": "elsewhere", "messages": "anthropic", "responses": "openai"}
"""Protocols, and a provider with whom each is spoken."""


def turn_at(server: ModelServer, wire: Wire, **more: Any) -> TurnRequest:
    """A turn whose model is asked by `wire`, through the gateway as far as it can see."""
    return TurnRequest(
        prompt="Make b.txt.",
        model="gpt-5" if wire == "responses" else "scripted-1",
        provider=WIRES[wire],
        base_url=server.base_url(wire, wire),
        relay="provider",
        credential=Credential("api_key", KEY),
        program=PROGRAM,
        **more,
    )


PLAN = Use("update_plan", {"items": [{"text": "Make b.txt", "state": "active"}]})
HOSTILE: tuple[Step, ...] = (
    Reply("I begin.", (PLAN, Write("b.txt", "b\n"), Read("none.txt")), reasoning="One and the other."),
    Reply("", (Raw("no_such_tool", "{}"), Raw("read_file", "{not json"), Read("b.txt"))),
    Drop(Reply("Half", Write("c.txt", "c\n" * 500)), events=4),
    Reply("", (Raw("glob", "[1]"), Raw("grep", '"text"'), Raw("read_file", '{"path": {"a": 1}}'))),
    Reply(""),
    Reply("", Shell("cat b.txt")),
)
TOO_LONG_FOR_OPENAI = Refusal(400, "This model's maximum context length is 8192 tokens.", kind=TOO_LONG)
TOO_LONG_FOR_ANTHROPIC = Refusal(400, "prompt is too long: 210000 tokens > 200000 maximum")


@pytest.mark.parametrize("wire", WIRES)
def test_a_hostile_model_is_told_what_was_wrong_and_goes_on_to_its_answer(wire: Wire, tmp_path: Path) -> None:
    too_long = TOO_LONG_FOR_ANTHROPIC if wire == "messages" else TOO_LONG_FOR_OPENAI
    with ModelServer({wire: Script(*HOSTILE, too_long, Reply("Made it."))}) as server:
        box = Box(tmp_path)
        ran = box.run(registry.get("native"), turn_at(server, wire))
        asked = server.requests(wire)
    assert (ran.outcome.message, ran.outcome.error, ran.exit_code) == ("Made it.", None, 0)
    assert (box.workdir / "b.txt").read_text() == "b\n" and not (box.workdir / "c.txt").exists()
    assert len(asked) == len(HOSTILE) + 2 and {(each.key, each.wire) for each in asked} == {(KEY, wire)}
    told = [event.payload for event in ran.events if event.kind == "tool_completed"]
    assert [each["ok"] for each in told].count(True) == 4, "the plan, the file, its reading, its listing"
    assert [event.payload["items"] for event in ran.events if event.kind == "plan"] == [
        [{"text": "Make b.txt", "state": "active"}]
    ]
    assert len(asked[-1].said) == 1 and "Go on." in asked[-1].said[0].text, "it goes on with a summary"


def test_what_the_model_thought_goes_back_to_openai_encrypted_and_nothing_is_stored_there(tmp_path: Path) -> None:
    steps = (Reply("", Write("b.txt", "b\n"), reasoning="First the file."), Reply("Made it.", reasoning="Done."))
    with ModelServer({"responses": Script(*steps)}) as server:
        ran = Box(tmp_path).run(registry.get("native"), turn_at(server, "responses"))
        first, second = (each.body for each in server.requests("responses"))
    assert ran.outcome.message == "Made it."
    assert first["store"] is second["store"] is False and "reasoning.encrypted_content" in first["include"]
    kinds = [item.get("type", "message") for item in second["input"]]
    assert kinds == ["message", "reasoning", "function_call", "function_call_output"]
    assert second["input"][1]["encrypted_content"]
    assert [event.payload["text"] for event in ran.events if event.kind == "reasoning"] == ["First the file.", "Done."]


def test_anthropic_is_told_what_to_keep_in_its_cache(tmp_path: Path) -> None:
    with ModelServer({"messages": Script(Reply("", Read("a")), Reply("", Read("b")), Reply("Done."))}) as server:
        Box(tmp_path).run(registry.get("native"), turn_at(server, "messages"))
        bodies = [each.body for each in server.requests("messages")]
    for body in bodies:
        assert body["tools"][-1]["cache_control"] and body["system"][-1]["cache_control"]
        assert body["messages"][-1]["content"][-1]["cache_control"], "all that was said so far"


IMAGE = b"\x89PNG\r\n\x1a\nscreenshot"


@pytest.mark.parametrize("wire", WIRES)
def test_images_of_a_task_are_shown_to_the_model_and_one_that_takes_none_goes_on_without(
    wire: Wire, tmp_path: Path
) -> None:
    blind = Refusal(400, "image input is not supported")
    with ModelServer({wire: Script(blind, Reply("", Read("a")), Reply("Done."))}) as server:
        box = Box(tmp_path)
        (tmp_path / "shot.png").write_bytes(IMAGE)
        (tmp_path / "evil.png").write_bytes(b"<svg/>")
        images = (str(tmp_path / "shot.png"), str(tmp_path / "evil.png"))
        ran = box.run(registry.get("native"), turn_at(server, wire, images=images))
        shown = [base64.b64encode(IMAGE).decode() in json.dumps(each.body) for each in server.requests(wire)]
    assert (ran.outcome.message, shown) == ("Done.", [True, False, False])


def test_an_unknown_conversation_can_be_begun_anew() -> None:
    line = '{"kind": "error", "message": "No conversation found with id x", "final": true}'
    parser = registry.get("native").parser()
    parser.parse(line)
    assert parser.outcome(ProcessEnd(1)).retry_fresh


@pytest.mark.parametrize("line", ["", "{}", "[]", '{"kind": "nonsense"}', '{"kind": "result"}', "Traceback"])
def test_a_line_that_cannot_be_read_is_a_status(line: str) -> None:
    assert [event.kind for event in registry.get("native").parser().parse(line)] == ["status"]


def test_a_turn_without_a_key_or_model_is_refused() -> None:
    with pytest.raises(ValueError, match="needs an API key"):
        registry.get("native").command(TurnRequest(prompt="", model="m"))
    with pytest.raises(ValueError, match="needs a model"):
        registry.get("native").command(TurnRequest(prompt="", credential=Credential("api_key", "k")))
