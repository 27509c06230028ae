"""What an agent is told of the attempts before its own."""

from loops.checks.shown_evidence import RedCheck
from loops.store.tables import Turn
from loops.turns.preparing.earlier_attempts import tried


def turn(**known: object) -> Turn:
    return Turn(**{"commit_sha": "c" * 40, "changed_files": ["a.py"], "message": "Rounded up.", **known})


def test_an_attempt_tells_what_it_changed_what_it_said_and_what_was_red_after_it() -> None:
    red = {"c" * 40: (RedCheck("test", "failure", "", "$ pytest -q  (exit code 1)\na.py:3: assert 1 == 2"),)}
    (line,) = tried([(1, turn())], red)
    assert line == (
        "Attempt 1 (commit cccccccccccc) changed a.py: Rounded up. After it these were red: "
        "test: $ pytest -q (exit code 1) | a.py:3: assert 1 == 2"
    )


def test_an_attempt_that_was_not_published_tells_why() -> None:
    (line,) = tried([(2, turn(commit_sha=None, error="limit_exceeded: wall clock", message=None))], {})
    assert line.startswith("Attempt 2 was not published (") and "limit" in line.lower()


def test_attempts_of_any_length_are_told_in_short() -> None:
    files = [f"{number}.py" for number in range(500)]
    red = {"c" * 40: tuple(RedCheck("n", "failure", "", "x" * 9_999) for _ in range(50))}
    (line,) = tried([(1, turn(message="said " * 9_999, changed_files=files))], red)
    assert len(line) < 1_500 and "and more" in line
