"""Whole jobs that failed, each with the same job when it passed: what a person needs of them is told."""

import pytest

from loops.evidence import distill
from tests.loops.evidence.pairs import Pair, pairs


@pytest.mark.parametrize("pair", pairs(), ids=[pair.name for pair in pairs()])
def test_a_pair_is_two_logs_of_one_job_of_which_one_failed(pair: Pair) -> None:
    assert pair.wanted
    for line, _ in pair.wanted:
        assert line in pair.red.decode()
    assert b"##[error]" in pair.red
    assert b"##[error]" not in pair.green
    assert distill([pair.green]).kind in ("passed", "unknown")
