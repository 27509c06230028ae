"""What is said of a turn's work where its agent left no description."""

import pytest

from loops.turns.work_summary import subject_in


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        ("I fixed the rounding in `shop/total.py`. It used floats.", "Fix the rounding in shop/total.py"),
        ("I've added a test for VAT, because it had none.", "Add a test for VAT"),
        ("Done. We have rewritten the parser so that it ends.", "Rewrite the parser"),
        ("## Updated the docs\n\nAll of them.", "Update the docs"),
        ("**Replaced** [floats](http://x) with Decimal", "Replace floats with Decimal"),
        ("Add a lock", "Add a lock"),
        ("The rounding was wrong: it used floats.", ""),
        ("Fixed", ""),
        ("Fixed " + "x" * 90, ""),
        ("", ""),
        ("```\nFixed it all\n```", ""),
        ("\x1b[31mFixed the colours\x1b[0m", ""),
    ],
)
def test_a_message_that_begins_with_what_was_done_gives_the_subject(message: str, subject: str) -> None:
    assert subject_in(message) == subject


def test_a_message_of_any_length_is_read_in_time() -> None:
    for text in ("* " * 500_000, "[" * 500_000, "I have " * 500_000, "\n" * 500_000, "Fixed " + ", " * 500_000):
        subject_in(text)
