"""Our own loop as a program in a box, with a script instead of a model."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from k8s.runner import protocol
from loops.runtimes import registry
from loops.runtimes.base import Credential, ProcessEnd, TurnRequest
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Reply, Write
from loops.runtimes.scripted.server import ModelServer
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


def test_it_speaks_anthropics_protocol_too(tmp_path: Path) -> None:
    with ModelServer({"x": Script(Reply("", Write("b.txt", "b\n")), Reply("Made it."))}) as server:
        turn = TurnRequest(
            prompt="Make b.txt.",
            model="scripted-1",
            provider="anthropic",
            base_url=server.base_url("x", "messages"),
            credential=Credential("api_key", KEY),
            program=PROGRAM,
        )
        box = Box(tmp_path)
        ran = box.run(registry.get("native"), turn)
        asked = server.requests("x")
    assert (ran.outcome.message, ran.exit_code) == ("Made it.", 0)
    assert (box.workdir / "b.txt").read_text() == "b\n"
    assert asked[0].wire == "messages" and asked[0].key == KEY


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
