from pathlib import Path

import pytest

from loops.evidence.literals import Literals, literals
from loops.evidence.match import DEAR, TABLE

OUTPUTS = Path(__file__).parent / "outputs"


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("fail(?:ed|s)?", {"fail"}),
        (r".*(?:No space left|ENOSPC).*", {"no space left", "enospc"}),
        (r"(?:error: )?\S+: [Pp]ermission denied", {": permission denied"}),
        (r"\w+: (?:refused|.*)", {": "}),
        (r"(?:x?abc)+d", {"abc"}),
        (r"(?:abc)*\d", set()),
        ("[✕✗] \\S", set()),
        (r"(?P<file>\S+\.rs):(?P<line>\d+)", {".rs"}),
        ("(?!never)(?<=before)after", {"after"}),
    ],
)
def test_an_expression_needs_the_rarest_texts_that_it_cannot_match_without(pattern: str, needed: set[str]) -> None:
    assert literals(pattern) == needed


def test_no_line_that_a_shape_matches_is_kept_from_it() -> None:
    lines = [line for path in sorted(OUTPUTS.glob("*.txt")) for line in path.read_text(errors="replace").split("\n")]
    candidates = Literals([TABLE[i].pattern for i in DEAR]).candidates(lines)
    matched = 0
    for bit, i in enumerate(DEAR):
        for line, bits in zip(lines, candidates, strict=True):
            if TABLE[i].regex.match(line):
                matched += 1
                assert bits >> bit & 1, (TABLE[i], line)
    assert matched > 100


def test_candidates_are_found_line_by_line_also_between_characters_of_many_bytes() -> None:
    found = Literals(["Error", ".*❌ bad", r"\d"]).candidates(["ERROR: é", "", "ok", "é ❌ bad", "error❌ bad"])
    assert found == [0b101, 0b100, 0b100, 0b110, 0b111]
    assert Literals(["Error"]).candidates([]) == []
