"""Whole jobs that failed, each with the same job when it passed: what a person needs of them is told."""

import pytest

from loops.evidence import BUDGET, distill
from loops.evidence.passing.twin import learn
from loops.evidence.recognise.match import TABLE
from tests.loops.evidence.pairs import Pair, pairs


@pytest.mark.parametrize("pair", pairs(), ids=[pair.name for pair in pairs()])
def test_a_pair_is_two_logs_of_one_job_of_which_one_failed(pair: Pair) -> None:
    assert pair.wanted
    for line, _ in pair.wanted:
        assert line in pair.red.decode()
    assert b"##[error]" in pair.red
    assert b"##[error]" not in pair.green
    assert distill([pair.green]).kind in ("passed", "unknown")


TOOLS = frozenset(shape.tool for shape in TABLE)


@pytest.mark.parametrize("without", [frozenset[str](), TOOLS], ids=["tools known", "tools unknown"])
@pytest.mark.parametrize("pair", [pair for pair in pairs() if pair.source == "floods"], ids=lambda pair: pair.name)
def test_a_flood_of_one_complaint_hides_no_other_line_that_matters(pair: Pair, without: frozenset[str]) -> None:
    excerpt = distill([pair.red], without=without).excerpt
    assert [line for line, _ in pair.wanted if line not in excerpt] == []


@pytest.mark.parametrize("twin", [False, True], ids=["alone", "with twin"])
def test_jobs_of_tools_that_nobody_knows_are_told_as_well_within_the_budget(twin: bool) -> None:
    told, critical, sizes = [], [], []
    for pair in pairs():
        excerpt = distill([pair.red], without=TOOLS, twin=learn([pair.green]) if twin else None).excerpt
        told += [line in excerpt for line, _ in pair.wanted]
        critical += [line in excerpt for line, grave in pair.wanted if grave]
        sizes.append(len(excerpt.encode()))
    assert sum(told) >= 0.98 * len(told)
    assert sum(critical) >= 0.98 * len(critical)
    assert max(sizes) <= BUDGET
    assert sum(sizes) <= 12_000 * len(sizes)
