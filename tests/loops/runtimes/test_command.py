"""Any program as the agent."""

import pytest

from loops.runtimes.base import SUMMARY_TEXT, ProcessEnd, RuntimeEvent, TurnRequest
from loops.runtimes.command.spec import SPEC as COMMAND


def test_the_program_is_split_as_a_shell_would_and_the_prompt_goes_to_stdin() -> None:
    turn = TurnRequest(prompt="p" * 200_000, program="python 'my agent.py' --fast", env={"A": "1"}, model="m")
    started = COMMAND.command(turn)
    assert started.argv == ("python", "my agent.py", "--fast")
    assert started.stdin == "p" * 200_000
    assert started.env == {"A": "1", "GREENLOOP_MODEL": "m"}


@pytest.mark.parametrize(
    ("program", "words"), [("", "needs a program"), ("   ", "needs a program"), ("a 'b", "cannot be split")]
)
def test_a_program_that_cannot_be_started_is_refused_with_the_reason(program: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        COMMAND.command(TurnRequest(prompt="", program=program))


def test_each_line_is_an_event() -> None:
    parser = COMMAND.parser()
    assert parser.parse("reading app.py") == [
        RuntimeEvent("assistant_delta", {"text": "reading app.py\n", "message_id": "stdout"})
    ]
    assert parser.parse("") == [RuntimeEvent("assistant_delta", {"text": "\n", "message_id": "stdout"})]


def test_the_final_message_is_the_tail_of_stdout() -> None:
    parser = COMMAND.parser()
    for number in range(1_000):
        parser.parse(f"line {number}")
    outcome = parser.outcome(ProcessEnd(0))
    assert outcome.error is None
    assert outcome.message.endswith("line 998\nline 999")
    assert len(outcome.message) <= SUMMARY_TEXT


def test_a_restarted_service_goes_on_where_the_last_one_stopped() -> None:
    first = COMMAND.parser()
    first.parse("one")
    second = COMMAND.parser(first.state())
    second.parse("two")
    assert second.outcome(ProcessEnd(0)).message == "one\ntwo"


def test_a_program_that_fails_is_an_error_with_its_last_words() -> None:
    parser = COMMAND.parser()
    parser.parse("starting")
    outcome = parser.outcome(ProcessEnd(1, stderr_tail="Traceback\nKeyError: 'x'\n\n"))
    assert outcome.error == "The agent command exited with code 1 and gave no answer: KeyError: 'x'"
    assert outcome.message == "starting"


def test_a_program_that_was_ended_says_by_what() -> None:
    outcome = COMMAND.parser().outcome(ProcessEnd(None, reason="timeout"))
    assert outcome.error == "The agent command was ended (timeout) and gave no answer."


def test_a_program_that_says_nothing_and_ends_well_is_no_error() -> None:
    assert COMMAND.parser().outcome(ProcessEnd(0)).error is None
