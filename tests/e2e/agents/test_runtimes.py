"""The main job with the agents themselves, a script in place of the model."""

import os

import pytest

from app.demo.model_faults import ModelFault
from loops.runtimes import registry
from tests.e2e.demo import run
from tests.tools import need

NO_KEYS = {variable: "" for runtime in registry.agents() for variable, _ in runtime.key_variables}
SLOW = ("opencode", "codex", "gemini")
"""Agents that try again by themselves for half a minute and more before they give up."""
PATIENT = {"GREENLOOP_TURN_SECONDS": "600"}
FAULTS = [word for fault in ModelFault for word in ("--model-fault", fault)]
RUNTIMES = tuple(runtime.name for runtime in registry.agents())


@pytest.mark.timeout(900)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_each_runtime_takes_the_demo_through_what_its_model_refuses_from_red_to_green(runtime: str) -> None:
    if runtime != "native":
        need(runtime)
    refused = runtime not in SLOW or "CI" in os.environ or os.environ.get("LONG") == "1"
    ended = run("--runtime", runtime, *(FAULTS if refused else ()), env=NO_KEYS | PATIENT, seconds=800)
    result = ended.result
    assert (ended.code, result["outcome"], result["attempts"]) == (0, "green", 1), ended.stderr[-3_000:]
    changed = [turn["changed_files"] for turn in result["turns"]]
    assert changed == [["degrees.py", "tests/test_degrees.py"], ["degrees.py"]]
    # three runs were refused, and no attempt and no turn was used up
    assert [turn["retries"] for turn in result["turns"]] == [3 if refused else 0, 0]
    assert [turn["afresh"] for turn in result["turns"]] == [refused, False]
    assert result["commits"] == 2 and result["default_branch_moved"] is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--runtime", "copilot"], "must be one of codex, opencode, claude, gemini, native"),
        (["--runtime", "native", "--agent", "x"], "exclude each other"),
        (["--model-fault", "overload"], "--model-fault needs --runtime"),
        (["--runtime", "native", "--model-fault", "hail"], "must be one of overload, rate-limit, context"),
        (
            ["--runtime", "native", "--issue", "Something else"],
            "needs a model: set ANTHROPIC_API_KEY or OPENAI_API_KEY",
        ),
    ],
)
def test_a_runtime_that_cannot_be_shown_is_misuse(words: list[str], said: str) -> None:
    ended = run(*words, env=NO_KEYS)
    assert ended.code == 2 and said in ended.stderr


def test_a_key_without_a_model_is_misuse_where_the_runtime_needs_one() -> None:
    ended = run("--runtime", "native", env={"ANTHROPIC_API_KEY": "sk-planted"})
    faulty = run("--runtime", "native", "--model-fault", "overload", env={"ANTHROPIC_API_KEY": "sk-planted"})
    assert faulty.code == 2 and "unset ANTHROPIC_API_KEY" in faulty.stderr
    assert ended.code == 2 and "needs --model" in ended.stderr and "sk-planted" not in ended.stderr
