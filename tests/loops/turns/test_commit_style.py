"""Commit subjects as each repository writes its own."""

import pytest

from loops.turns.commit_style import change_of, in_style, style_of

CONVENTIONAL = ["feat: add totals", "fix(tax): round half up", "Merge pull request #3 from x", "docs: tell of VAT"]
SHORTCODES = [":bug: Round half up", ":sparkles: Add totals", ":memo: Tell of VAT"]
EMOJI = ["🐛 Round half up", "✨ Add totals", "⚡️ Sum faster"]
TICKETS = ["[SHOP-12] Round half up", "[SHOP-9] Add totals", "[SHOP-7] Tell of VAT"]
COLONS = ["SHOP-12: round half up", "SHOP-9: add totals", "SHOP-7: tell of VAT"]
PLAIN = ["Round half up", "Add totals", "Tell of VAT"]
SENTENCES = ["Round half up.", "Add totals.", "Tell of VAT."]
LOWER = ["round half up", "add totals", "tell of vat"]


@pytest.mark.parametrize(
    ("log", "subject", "written"),
    [
        (CONVENTIONAL, "Round half up", "fix: round half up"),
        (CONVENTIONAL, "fix(api): round half up", "fix(api): round half up"),
        (CONVENTIONAL, "🐛 Round half up", "fix: round half up"),
        (CONVENTIONAL, "JSON is read whole.", "fix: JSON is read whole"),
        (SHORTCODES, "Round half up", ":bug: Round half up"),
        (EMOJI, "fix: round half up", "🐛 Round half up"),
        (EMOJI, "✨ Offer totals", "✨ Offer totals"),
        (TICKETS, "Round half up", "[SHOP-31] Round half up"),
        (TICKETS, "[SHOP-30] Round half up", "[SHOP-30] Round half up"),
        (COLONS, "Round half up", "SHOP-31: round half up"),
        (PLAIN, "round half up", "Round half up"),
        (SENTENCES, "Round half up", "Round half up."),
        (LOWER, "Round half up", "round half up"),
        ([], "Round half up", "Round half up"),
        (["wip", "fix: a"], "Round half up", "Round half up"),
    ],
)
def test_a_subject_is_written_as_the_log_writes_its_own(log: list[str], subject: str, written: str) -> None:
    assert in_style(subject, style_of(log), "fix", "as SHOP-31 wants, not WORKSHOP-2") == written


def test_a_ticket_that_nobody_named_is_not_made_up() -> None:
    assert in_style("Round half up", style_of(TICKETS), "fix", "no ticket here") == "Round half up"


@pytest.mark.parametrize(
    ("paths", "words", "repair", "change"),
    [
        (["README.md", "docs/a.html"], "add a feature", False, "docs"),
        (["tests/test_a.py", "web/a.spec.ts"], "", False, "test"),
        (["shop/total.py"], "add totals", False, "feat"),
        (["shop/total.py"], "add what is missing: it crashes", False, "fix"),
        (["shop/total.py"], "add totals", True, "fix"),
        (["requirements.txt"], "", False, "fix"),
        ([], "", False, "fix"),
    ],
)
def test_the_kind_of_change_is_told_by_files_and_words(paths: list[str], words: str, repair: bool, change: str) -> None:
    assert change_of(paths, words, repair=repair) == change


def test_a_log_of_strange_subjects_has_a_style_in_time() -> None:
    log = [":" * 50_000, "[" * 50_000, "feat(" + "(" * 50_000, "A1-" * 20_000, "\u2190\u200d" * 20_000]
    assert in_style(":" * 1_000, style_of(log), "fix", "A-1" * 1_000)
