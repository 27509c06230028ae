from pathlib import Path

import pytest

from loops.evidence.match import PATTERNS, TABLE
from loops.evidence.prefilter import Prefilter
from loops.evidence.required import ASCII, worked_out

OUTPUTS = Path(__file__).parent / "outputs"


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("fail(?:ed|s)?", {"fail"}),
        (r".*(?:No space left|ENOSPC).*", {"No space left", "ENOSPC"}),
        (r"(?:error: )?\S+: [Pp]ermission denied", {": permission denied", ": Permission denied"}),
        (r"\w+: (?:refused|.*)", {": "}),
        (r"(?:x?abc)+d", {"abc"}),
        (r"(?:abc)*\d", set()),
        (r"_{2,} E {3,}\S", {" E   "}),
        (r"\S+  \d", set()),
        ("[✕✗] \\S", {"✕ ", "✗ "}),
        (r"(?P<file>\S+\.rs):(?P<line>\d+)", {".rs"}),
        (r"\S+\.[jt]sx?\b", {".js", ".ts"}),
        ("(?!never)(?<=before)after", {"after"}),
        ("(?i)error|(?i:fail)", set()),
        ("(?i:fail)ed", {"ed"}),
    ],
)
def test_an_expression_needs_the_rarest_texts_that_it_cannot_match_without(pattern: str, texts: set[str]) -> None:
    assert worked_out(pattern).texts == texts


@pytest.mark.parametrize(
    ("pattern", "first"),
    [
        ("fail", "f"),
        (r"(?:✖ )?(?:no|an) error", "an"),
        (r"\d+|[x-z]?!", "!0123456789xyz"),
        (r"(?!a)(?<=b)^c*d", "cd"),
        (r"\s+at", " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"),
        (r"[^\s~-]", "".join(c for c in ASCII if not c.isspace() and c not in "-~")),
        ("✖", ""),
        (".*error", ASCII.replace("\n", "")),
        ("x?", None),
        (r"(x)?\1", None),
        ("(?i:x)", None),
    ],
)
def test_an_expression_begins_with_one_of_few_letters(pattern: str, first: str | None) -> None:
    found = worked_out(pattern).first
    assert (found if found is None else set(found)) == (first if first is None else set(first))


def test_no_line_that_a_shape_matches_is_kept_from_it() -> None:
    lines = [line for path in sorted(OUTPUTS.glob("*.txt")) for line in path.read_text(errors="replace").split("\n")]
    prefilter = Prefilter(PATTERNS)
    candidates = prefilter.candidates(lines)
    matched = 0
    for i, shape in enumerate(TABLE):
        for line, bits in zip(lines, candidates, strict=True):
            if shape.regex.match(line):
                matched += 1
                assert bits & prefilter.beginning(line[:1]) & 1 << i, (shape, line)
    assert matched > 1_000


def test_candidates_are_found_line_by_line_also_between_characters_of_many_bytes() -> None:
    prefilter = Prefilter(["Error", ".*❌ bad", r"\d"], ["wrong"])
    lines = ["Error: é", "error", "", "WRONG", "é ❌ bad", "Error❌ bad, wrong"]
    assert prefilter.candidates(lines) == [0b101, 0b100, 0b100, 0b1100, 0b110, 0b1111]
    assert prefilter.candidates([]) == []
    assert [prefilter.beginning(letter) for letter in ("E", "7", "é", "")] == [0b011, 0b110, 0b111, 0b111]
