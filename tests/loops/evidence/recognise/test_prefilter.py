from pathlib import Path

from loops.evidence.recognise.derive import derive
from loops.evidence.recognise.match import PATTERNS, TABLE
from loops.evidence.recognise.prefilter import Prefilter
from loops.evidence.recognise.required import required

OUTPUTS = Path(__file__).parents[1] / "outputs"


def test_no_line_that_a_shape_matches_is_kept_from_it() -> None:
    lines = [line for path in sorted(OUTPUTS.glob("*.txt")) for line in path.read_text(errors="replace").split("\n")]
    prefilter = Prefilter(list(map(required, PATTERNS)))
    candidates = prefilter.candidates(lines)
    matched = 0
    for i, shape in enumerate(TABLE):
        for line, bits in zip(lines, candidates, strict=True):
            if shape.regex.match(line):
                matched += 1
                assert bits & prefilter.beginning(line[:1]) & 1 << i, (shape, line)
    assert matched > 1_000


def test_candidates_are_found_line_by_line_also_between_characters_of_many_bytes() -> None:
    prefilter = Prefilter([derive("Error"), derive(".*❌ bad"), derive(r"\d")], [derive("wrong")])
    lines = ["Error: é", "error", "", "WRONG", "é ❌ bad", "Error❌ bad, wrong"]
    assert prefilter.candidates(lines) == [0b101, 0b100, 0b100, 0b1100, 0b110, 0b1111]
    assert prefilter.candidates([]) == []
    assert [prefilter.beginning(letter) for letter in ("E", "7", "é", "")] == [0b011, 0b110, 0b111, 0b111]
