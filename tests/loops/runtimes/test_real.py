"""The CLIs themselves, at the pinned versions, driven by the real runner (.ci/run installs them).

They work side by side in a box each, so the whole takes as long as the slowest.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from k8s.runner import protocol
from loops.runtimes import registry
from tests.loops.runtimes.real import KEY, LONG_PROMPT, STEPS, Done, RealCli
from tests.tools import need

CLIS = tuple(runtime.name for runtime in registry.agents() if runtime.package)

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def at_work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, RealCli]]:
    """Every CLI that is installed, at work."""
    for name in CLIS:
        need(name)
    started = {name: RealCli(name, tmp_path_factory.mktemp(name)) for name in CLIS}
    yield started
    for cli in started.values():
        cli.join()


@pytest.fixture(params=CLIS)
def cli(request: pytest.FixtureRequest, at_work: dict[str, RealCli]) -> RealCli:
    """One of them."""
    return at_work[str(request.param)]


def reported(done: Done) -> str:
    """Everything that came out of the box."""
    shown = [json.dumps(event.payload) for event in done.events]
    return "\n".join(
        [*shown, done.result.diff, done.result.stderr_tail, done.outcome.message, done.outcome.error or ""]
    )


def test_it_edits_with_its_own_tool_and_finishes(cli: RealCli) -> None:
    done = cli.wait("work")
    assert (done.result.reason, done.result.exit_code, done.outcome.error) == (protocol.EXITED, 0, None)
    assert done.outcome.message == "All done."
    assert done.contents == {"a.txt": b"green\n"}
    assert [Path(str(told["path"])).name for told in done.payloads("file_edit")] == ["a.txt"]
    assert all(request.key == KEY for request in done.asked)


def test_an_overload_that_passes_is_waited_for(cli: RealCli) -> None:
    done = cli.wait("work")
    assert done.asked[0].said == done.asked[1].said
    assert done.outcome.error is None


def test_a_prompt_of_200_kB_arrives_whole(cli: RealCli) -> None:
    said = [said.text for said in cli.wait("work").asked[0].said if said.role == "user"]
    assert any(LONG_PROMPT in text for text in said)


def test_a_tool_that_fails_is_told_as_failed_and_the_turn_goes_on(cli: RealCli) -> None:
    commands = [told for told in cli.wait("work").payloads("command") if "exit 3" in told["command"]]
    # Gemini CLI tells its model alone how a command ended
    assert [told["exit_code"] for told in commands] == [None if cli.name == "gemini" else 3]


def test_5_MB_of_tool_output_are_taken_and_clipped(cli: RealCli) -> None:
    done = cli.wait("work")
    outputs = [str(told["output"]) for told in done.payloads("tool_completed")]
    assert any("0123456789\n0123456789" in output for output in outputs)
    assert max(map(len, outputs)) < 31_000
    assert done.result.output_bytes < 3_000_000


def test_a_later_turn_goes_on_with_the_conversation(cli: RealCli) -> None:
    first, second = cli.wait("work"), cli.wait("resumed")
    assert (second.outcome.message, second.outcome.error) == ("Second answer.", None)
    assert second.outcome.session_id == first.outcome.session_id
    said = [said.text for said in second.asked[0].said]
    assert any(LONG_PROMPT in text for text in said) and any("All done." in text for text in said)
    spent = [told["input"] for told in second.payloads("usage")]
    assert sum(spent) == 140


def test_a_refused_key_ends_the_turn_with_the_reason(cli: RealCli) -> None:
    done = cli.wait("refused")
    assert done.result.exit_code in (1, 401 & 255)
    assert done.outcome.error and ("401" in done.outcome.error or "scripted refusal" in done.outcome.error)
    assert 1 <= len(done.asked) <= 8
    assert done.contents == {}


def test_it_is_stopped_at_its_cap_of_steps(cli: RealCli) -> None:
    done = cli.wait("endless")
    steps = sum(told["steps"] for told in done.payloads("usage"))
    assert STEPS <= steps <= STEPS + 8
    assert done.result.reason == protocol.CANCELLED or done.outcome.limit == "steps"
    assert done.outcome.error
    assert done.survivors == set()


@pytest.mark.parametrize(("case", "reason"), [("hangs", protocol.TIMEOUT), ("cancelled", protocol.CANCELLED)])
def test_nothing_survives_an_end_in_the_middle_of_a_tool(cli: RealCli, case: str, reason: str) -> None:
    done = cli.wait(case)
    assert done.result.reason == reason
    assert done.survivors == set()
    assert done.result.swept >= 1 or cli.name != "opencode"
    assert done.outcome.session_id, "the conversation can be gone on with"


def test_the_key_stays_out_of_everything_reported(cli: RealCli) -> None:
    spellings = (KEY, base64.b64encode(KEY.encode()).decode().rstrip("="))
    for case in ("work", "resumed", "refused", "endless", "hangs", "cancelled"):
        shown = reported(cli.wait(case))
        assert not any(spelling in shown for spelling in spellings), case
