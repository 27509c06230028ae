"""What holds of every excerpt: its size, its line numbers, its folded repeats; and of evidence that is no log."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loops.evidence import Annotation, distill, distill_check
from loops.evidence.telling.merge import merge
from tests.loops.evidence.logs import job, stamped, step

NUMBERED = re.compile(r"^(\d+)\| (.*)$", re.M)
TEXTS = st.text(max_size=60)
NOTES = st.lists(
    st.builds(
        Annotation,
        path=st.sampled_from(["src/a.py", "", ".github"]) | TEXTS,
        message=TEXTS,
        line=st.none() | st.integers(-1, 10**9),
        level=st.sampled_from(["notice", "warning", "failure"]),
        title=TEXTS,
    ),
    max_size=25,
)
LINES = st.lists(
    st.sampled_from(
        [
            "compiling",
            "error: no such thing",
            "FAILED tests/test_a.py::test_one - assert 1",
            "",
            "10%\r20%\rerror: half way",
            "\x1b[31mError:\x1b[0m in red",
            "E   assert 1 == 2",
            "##[group]Run make",
            "##[endgroup]",
            "##[error]Process completed with exit code 2.",
            "Post job cleanup.",
            "wide " + "error " * 600,
            "ünïcödé ❌ error \u2028 more",
        ]
    ),
    min_size=1,
    max_size=120,
)
FEW = settings(max_examples=60, deadline=None)


@FEW
@given(
    st.binary(max_size=2_000), st.integers(1, 3_000), NOTES, st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=4)
)
def test_whatever_comes_in_the_excerpt_is_text_within_its_budget(
    raw: bytes, budget: int, notes: list[Annotation], named: list[str], changed: list[str]
) -> None:
    found = distill([raw], budget=budget, annotations=notes, failed_steps=named, changed_files=changed)
    assert len(found.excerpt.encode()) <= budget
    checked = distill_check("a", "b", raw.decode(errors="replace"), notes, budget=budget, changed_files=changed)
    assert len(checked.excerpt.encode()) <= budget


@FEW
@given(LINES, st.integers(200, 20_000), st.integers(1, 5_000))
def test_each_shown_line_stands_at_its_number_in_the_full_log(lines: list[str], budget: int, size: int) -> None:
    log = stamped(f"{line} <{number}>" for number, line in enumerate(lines, 1))
    found = distill([log[at : at + size] for at in range(0, len(log), size)], budget=budget)
    for number, text in NUMBERED.findall(found.excerpt):
        assert re.sub(r"  \[x\d+\]$", "", text).endswith(f" <{number}>")
    shown = [int(number) for number, _ in NUMBERED.findall(found.excerpt)]
    assert shown == sorted(set(shown))
    assert found.total_lines == (len(lines) if found.kind != "empty" else found.total_lines)
    assert [n for first, last in found.shown for n in range(first, last + 1)] == shown


@FEW
@given(LINES)
def test_distilling_twice_gives_the_same(lines: list[str]) -> None:
    log = stamped(lines)
    assert distill([log]) == distill([log])


def test_repeats_are_shown_once_with_their_count() -> None:
    flood = [f"2026-03-01 10:00:{n % 60:02} ERROR could not reach the stock of shop" for n in range(60)]
    found = distill([job(step("./sell", ["ERROR no till", *["ERROR out of paper"] * 57, *flood], 1))])
    assert re.search(r"\d+\| ERROR out of paper  \[x57\]\n", found.excerpt)
    assert found.excerpt.count("ERROR out of paper") <= 3


def test_gaps_say_how_many_lines_they_leave_out() -> None:
    log = job(step("make", ["compiling"] * 500 + ["a.c:1:1: error: no"] + ["linking"] * 500, 2))
    found = distill([log])
    last = 0
    for line in found.excerpt.splitlines():
        if gap := re.match(r"  \.\.\. (\d+) lines? \.\.\.$", line):
            last += int(gap[1])
        elif shown := re.match(r"(\d+)\| ", line):
            assert last in (0, int(shown[1]) - 1)
            last = int(shown[1])
    assert last > 1_000


@pytest.mark.parametrize("budget", [1, 10, 100, 300, 500, 1_000])
def test_a_tiny_budget_still_holds_and_says_first_what_failed(budget: int) -> None:
    log = job(step("python -m pytest", ["FAILED tests/test_shop.py::test_total - assert 3 == 4"], 1))
    found = distill([log], budget=budget)
    assert len(found.excerpt.encode()) <= budget
    assert found.kind == "test"
    assert found.excerpt.startswith("Failed step: python -m pytest, exit code 1"[:budget])
    if budget >= 300:
        assert "FAILED tests/test_shop.py::test_total" in found.excerpt


def test_the_lines_that_name_a_changed_file_come_before_others_of_their_kind() -> None:
    errors = [f"src/module_{n:03}.py:{n + 1}: error: Name 'x{n}' is not defined  [name-defined]" for n in range(200)]
    log = job(step("mypy src", [*errors, "Found 200 errors in 200 files (checked 200 source files)"], 1))
    budget = 3_000
    plain = distill([log], budget=budget)
    changed = distill([log], budget=budget, changed_files=["src/module_137.py", "src/module_141.py"])
    for name in ("src/module_137.py:138", "src/module_141.py:142"):
        assert name not in plain.excerpt
        assert name in changed.excerpt


def test_the_jobs_of_a_matrix_are_named_together_and_the_fullest_excerpt_speaks() -> None:
    def one(version: str, *more: str) -> tuple[str, str]:
        return f"test ({version})", "\n".join(["FAILED tests/test_a.py::test_one - assert 1", *more])

    jobs = [one("3.11"), one("3.12", "  note: seen on 3.12 only"), one("3.13"), ("lint", "a.py:1:8: F401 `os` unused")]
    found = [(name, distill([job(step("./check", text.split("\n"), 1), name=name)])) for name, text in jobs]
    merged = merge(found)
    assert [each.jobs for each in merged] == [("test (3.11)", "test (3.12)", "test (3.13)"), ("lint",)]
    assert merged[0].distilled is found[1][1]


def test_a_check_of_annotations_only_is_told_by_their_places_and_messages() -> None:
    notes = [
        Annotation("src/a.py", "Undefined name 'x'", 7),
        Annotation("src/b.py", "Line too long", 9, "warning", "E501"),
        Annotation(".github", "Process completed with exit code 1.", 1),
    ]
    found = distill_check("acme-lint ended as failure", annotations=notes, changed_files=["src/a.py"])
    assert "Annotation (failure): src/a.py:7: Undefined name 'x'\n" in found.excerpt
    assert "Annotation (warning): src/b.py:9: Line too long\n" in found.excerpt
    assert [(d.file, d.line, d.message) for d in found.diagnostics] == [
        ("src/a.py", 7, "Undefined name 'x'"),
        ("src/b.py", 9, "Line too long"),
    ]


def test_a_check_s_summary_and_text_are_read_like_a_log() -> None:
    text = "### Failures\n\nFAILED tests/test_a.py::test_one - assert 1 == 2\n\n1 failed, 8 passed in 0.2s\n"
    found = distill_check("1 test failed", "See the details.", text)
    assert found.kind == "test"
    assert found.failing_tests == ("tests/test_a.py::test_one",)
    assert "1 test failed" in found.excerpt
    assert "assert 1 == 2" in found.excerpt


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("The workflow ci ended as startup_failure before any job began.", "configuration"),
        ("build ended as timed_out", "timeout"),
        ("build ended as cancelled", "cancelled"),
        (
            "Invalid workflow file: .github/workflows/ci.yml#L7\nYou have an error in your yaml syntax on line 7",
            "configuration",
        ),
    ],
)
def test_a_check_that_left_nothing_is_told_by_how_it_ended(said: str, kind: str) -> None:
    found = distill_check(said)
    assert found.kind == kind
    assert said.split("\n")[0] in found.excerpt


def test_a_status_of_three_words_is_shown_whole() -> None:
    found = distill_check("coverage/total: 79.1% is below 80%")
    assert "coverage/total: 79.1% is below 80%" in found.excerpt
    assert found.kind != "passed"


def test_a_check_about_which_nothing_is_known_is_empty() -> None:
    assert distill_check(None).kind == "empty"
