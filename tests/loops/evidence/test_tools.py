"""What real tools printed, run for these tests on a small shop of ours, inside a job's log."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from loops.evidence import Distilled, distill
from loops.evidence.recognise.match import TABLE
from tests.loops.evidence.logs import job, step

HERE = Path(__file__).parent / "outputs"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((HERE / "expected.toml").read_text())
EXIT_CODES = {"segv": 139, "bash_nf": 127, "node_oom": 134}
NOISE = [
    f"  ✓ handles error number {i} ({i % 30} ms)" if i % 3 else f"INFO request {i}, 0 errors" for i in range(3_000)
]


def output(name: str) -> list[str]:
    return (HERE / f"{name}.txt").read_bytes().decode(errors="replace").split("\n")


def told(name: str, lines: list[str]) -> Distilled:
    install = step("npm ci", ["npm warn deprecated x@1: no longer supported", "added 300 packages in 4s"])
    soft = step("./soft-check", ["soft.py:1:1: error: this step may fail"], 1)
    after = step("./upload-report", ["No report, nothing to do"])
    return distill([job(install, soft, step(f"./check {name}", lines, EXIT_CODES.get(name, 1)), after)])


def assert_told(name: str, found: Distilled) -> None:
    expected = EXPECTED[name]
    for kept in expected.get("keep", []):
        assert kept in found.excerpt
    for test in expected.get("tests", []):
        assert test in found.failing_tests
    places = {d.file for d in found.diagnostics} | {f"{d.file}:{d.line}" for d in found.diagnostics}
    assert set(expected.get("places", [])) <= places
    assert found.kind == expected.get("kind", found.kind)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_tool_is_told_whole_also_before_much_noise(name: str) -> None:
    assert_told(name, told(name, [*output(name), *NOISE]))


def test_the_general_method_alone_keeps_nearly_all_that_the_tools_say() -> None:
    others = frozenset(shape.tool for shape in TABLE if shape.tool != "runner")
    wanted = kept = 0
    for name, expected in EXPECTED.items():
        excerpt = distill([job(step("./check", output(name), 1))], without=others).excerpt
        wanted += len(expected.get("keep", []))
        kept += sum(text in excerpt for text in expected.get("keep", []))
    assert wanted > 150
    assert kept / wanted >= 0.97


def test_every_recogniser_has_a_pattern_that_compiles_and_no_duplicate() -> None:
    seen = set()
    for shape in TABLE:
        assert shape.regex.pattern
        key = (shape.tool, shape.pattern, shape.needs)
        assert key not in seen
        seen.add(key)
