"""What many tools print of a failure: lines that begin with § are those that a person needs, and must be told."""

import random
import re
from functools import cache
from pathlib import Path

import pytest

from loops.evidence import distill
from loops.evidence.recognise.match import TABLE
from tests.loops.evidence.logs import job, step

MARK = "§"
CASE = re.compile(r"=== (\w+) (?!FAIL)(.+)")


def cases() -> dict[str, tuple[str, list[str]]]:
    """By name: the command, and its output with the marks."""
    found: dict[str, tuple[str, list[str]]] = {}
    lines: list[str] = []
    for file in sorted((Path(__file__).parent / "marked").glob("*.txt")):
        for line in file.read_text().split("\n"):
            if head := CASE.fullmatch(line):
                assert head[1] not in found, f"{head[1]} is there twice"
                lines = []
                found[head[1]] = (head[2], lines)
            else:
                lines.append(line)
    return found


CASES = cases()


@cache
def noise(count: int, seed: int) -> tuple[str, ...]:
    """What goes on beside a failure and sounds like one: tests of errors that pass, warnings, progress."""
    chance = random.Random(seed)
    kinds = (
        lambda n: f"  ✓ handles error number {n} ({n % 30} ms)",
        lambda n: f"2026-03-01 12:00:{n % 60:02},123 DEBUG app.worker: job {n} took {n % 7} ms",
        lambda n: f"test errors::tests::fails_{n} ... ok",
        lambda n: f"--- PASS: TestFailure{n} (0.0{n % 9}s)",
        lambda n: f"tests/test_error_{n}.py::test_raises PASSED [ {n % 100}%]",
        lambda n: f"[{n}/{count}] Building CXX object src/error_{n}.cc.o",
        lambda n: f"src/lib{n}.c:{n}:3: warning: unused variable 'x{n}' [-Wunused-variable]",
        lambda n: f"Progress: {n * 100 // count}%",
        lambda n: f"ok {n} - returns an error when input is invalid",
        lambda n: f"Compiling module{n} ... done",
    )
    return tuple(chance.choice(kinds)(n) for n in range(count))


def excerpt(command: str, lines: list[str]) -> str:
    output = [*noise(120, 1), *(line.removeprefix(MARK) for line in lines), *noise(240, 2)]
    return distill([job(step(command, output, 1), step("./upload-report", ["No report, nothing to do"]))]).excerpt


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_a_person_needs_is_told_amid_what_only_sounds_like_failures(name: str) -> None:
    command, lines = CASES[name]
    told = excerpt(command, lines)
    marked = [line.removeprefix(MARK).strip() for line in lines if line.startswith(MARK)]
    assert marked
    assert [line for line in marked if line not in told] == []


def test_what_reads_with_a_failure_is_found_past_what_other_programs_print_between() -> None:
    own = ["not ok 3 should be equal", "  ---", "    wanted: |-", "      { a: 1 }", "    found: |-", "      { a: 9 }"]
    lines = []
    for line in own:
        lines += [f"@shop/core: {line}", *(f"@shop/ui: ok {n} shows the error of {line!r}" for n in range(60))]
    found = distill([job(step("npm run test:all", [*lines, "lerna ERR! npm run test exited 1 in '@shop/core'"], 1))])
    assert [line for line in own if f"@shop/core: {line}" not in found.excerpt] == []


def test_every_recogniser_of_tests_names_them() -> None:
    assert [shape for shape in TABLE if shape.role == "test" and "test" not in shape.regex.groupindex] == []
