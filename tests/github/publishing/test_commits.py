import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from github.publishing.commits import MAX_SUBJECT, CoAuthor, commit_message, turn_of

ALICE = CoAuthor(10, "alice")


def test_a_message_has_a_subject_a_body_and_our_trailers_at_its_end() -> None:
    assert commit_message("Fix the login", "It broke.\n\nNow it works.", turn="t_1", co_authors=[ALICE]) == (
        "Fix the login\n\nIt broke.\n\nNow it works.\n\n"
        "Greenloop-Turn: t_1\nCo-authored-by: alice <10+alice@users.noreply.github.com>\n"
    )


def test_without_a_body_and_a_co_author_there_is_the_turn() -> None:
    assert commit_message("Fix", "", turn="t_1") == "Fix\n\nGreenloop-Turn: t_1\n"


@pytest.mark.parametrize(
    "skip",
    [
        "[skip ci]",
        "[ci skip]",
        "[no ci]",
        "[skip actions]",
        "[actions skip]",
        "[SKIP CI]",
        "[ skip  ci ]",
        "[skip-ci]",
        "[ci-skip]",
        "[skip build]",
        "[build skip]",
        "[skip travis]",
        "[skip azp]",
        "[skip checks]",
        "***NO_CI***",
        "[skip [skip ci]ci]",
        "[skip\x00 ci]",
    ],
)
def test_nothing_that_stops_checks_from_running_survives(skip: str) -> None:
    message = commit_message(f"Fix {skip} it", f"Because {skip}.\n{skip}", turn="t_1")
    assert "ci]" not in message.lower()
    assert "skip" not in message.lower()
    assert "NO_CI" not in message
    assert message.startswith("Fix it\n")


@pytest.mark.parametrize(
    "line",
    [
        "skip-checks: true",
        "Skip-Checks:true",
        "  skip-checks : true",
        "Greenloop-Turn: t_other",
        "Co-authored-by: Mallory <m@example.com>",
        "Signed-off-by: Mallory <m@example.com>",
        "Reviewed-By : Mallory <m@example.com>",
        "on-behalf-of: @acme <m@example.com>",
        "Release-As: 99.0.0",
    ],
)
def test_trailers_that_only_we_may_write_are_taken_out(line: str) -> None:
    message = commit_message("Fix", f"Body.\n\n{line}", turn="t_1")
    assert message == "Fix\n\nBody.\n\nGreenloop-Turn: t_1\n"


def test_ordinary_brackets_stay() -> None:
    message = commit_message("[api] Skip the cache", "See [docs] and [ci] and a[skip].", turn="t_1")
    assert message.startswith("[api] Skip the cache\n\nSee [docs] and [ci] and a[skip].")


def test_long_and_empty_texts_make_a_valid_message() -> None:
    assert len(commit_message("x" * 500, "", turn="t_1").splitlines()[0]) == MAX_SUBJECT
    assert commit_message("\n \x00", "", turn="t_1").startswith("Apply the requested change\n")
    assert len(commit_message("x", "y" * 100_000, turn="t_1")) < 5000


def test_the_turn_of_a_message_is_the_last_trailer() -> None:
    assert turn_of(commit_message("Fix", "x", turn="t_1", co_authors=[ALICE])) == "t_1"
    assert turn_of("Fix\n\nGreenloop-Turn: t_1\n\nGreenloop-Turn: t_2\n") == "t_2"
    assert turn_of("Fix Greenloop-Turn: t_1") is None
    assert turn_of("") is None


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200), st.text(max_size=400))
def test_whatever_an_agent_writes_the_turn_is_found_again(subject: str, body: str) -> None:
    assert turn_of(commit_message(subject, body, turn="t_1")) == "t_1"
