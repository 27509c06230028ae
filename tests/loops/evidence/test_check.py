from loops.evidence.check import distill_check


def test_words_that_no_tool_is_known_by_are_shown_as_they_are() -> None:
    found = distill_check("old CI broke", "ask ops")
    assert found.excerpt == "old CI broke\nask ops"
    assert (found.kind, found.shown) == ("unknown", ((1, 2),))
    assert found.fingerprint != distill_check("old CI is slow").fingerprint


def test_they_are_redacted_and_fit_the_budget() -> None:
    found = distill_check("a word and " * 1000, budget=2000, redact=lambda text: text.replace("word", "***"))
    assert len(found.excerpt.encode()) <= 2000
    assert "word" not in found.excerpt


def test_a_check_that_says_nothing_says_so() -> None:
    assert distill_check(None).kind in ("passed", "empty")
