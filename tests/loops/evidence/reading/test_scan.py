"""The first pass keeps what may matter of any log, and no more than a bounded part of it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from loops.evidence import distill
from loops.evidence.reading.scan import FULL, RING, SHORT, WINDOW, Scan
from tests.loops.evidence.logs import job, step

FLOODS = {
    "one error again and again": "ERROR: worker 7 could not connect\n",
    "lines of one word": "fail\n",
    "tracebacks": 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: bad\n',
    "marks of the runner": "##[error]something\n",
    "progress of one line": "\r10 % error\r20 % error" * 40 + "\n",
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_a_flood_of_errors_is_kept_in_bounds_of_bytes_and_of_lines(flood: str) -> None:
    block = flood.encode() * (400_000 // len(flood))
    scan = Scan([block] * 25)
    windows = scan.windows()
    assert scan.total_lines == 25 * block.count(b"\n")
    most = FULL + RING + 2 * WINDOW
    assert sum(len(window) for _, window in windows) <= most
    assert sum(window.count(b"\n") for _, window in windows) <= most // SHORT


def test_a_new_error_is_kept_behind_megabytes_of_another() -> None:
    flood = "".join(f"ERROR: worker {n} could not connect to 10.0.0.{n % 250}\n" for n in range(40_000)).encode()
    log = flood + b"src/shop.py:7:3: F821 undefined name `basket`\n" + flood
    found = distill([log])
    assert "40001| src/shop.py:7:3: F821 undefined name `basket`" in found.excerpt


def test_windows_are_whole_lines_with_their_true_numbers_whatever_the_chunks() -> None:
    log = b"".join(b"line %d %s\n" % (n, b"error" if n % 400 == 0 else b"ok") for n in range(1, 90_001))
    for size in (1_000, 70_001, len(log)):
        windows = Scan(log[at : at + size] for at in range(0, len(log), size)).windows()
        numbers = [
            (first + offset, line) for first, window in windows for offset, line in enumerate(window.splitlines())
        ]
        assert len(numbers) > 5_000
        assert all(line.startswith(b"line %d " % number) for number, line in numbers)


def test_a_log_as_gh_prints_it_has_its_failed_step_found_behind_megabytes_of_others() -> None:
    calm = [f"INFO request {n} served, 0 errors" for n in range(30_000)]
    steps = {
        "Install": step("npm ci", ["added 300 packages"]),
        "Unit tests": step("npm test", [*calm, "Error: basket is empty"], 1),
        "Report": step("./report", calm),
    }
    lines = [
        f"test (20)\t{name}\t2026-03-01T00:00:00.0000000Z {line}\n" for name, part in steps.items() for line in part
    ]
    found = distill(["".join(lines).encode()])
    assert (found.command, found.exit_code) == ("npm test", 1)
    assert "Error: basket is empty" in found.excerpt


def test_words_count_in_any_case_of_letters_and_at_the_very_end() -> None:
    noise = b"ordinary\n" * 100_000
    windows = Scan([noise, b"TRACEBACK (most recent call last)\n", noise, b"No Such File"]).windows()
    kept = b"".join(window for _, window in windows)
    assert b"TRACEBACK" in kept
    assert b"No Such File" in kept
    assert len(kept) < 40_000


def test_the_context_of_a_hit_reaches_across_blocks() -> None:
    log = job(step("make", [*(f"compiling unit {n}" for n in range(30_000)), "unit.c:1:1: error: no"], 2))
    half = log.index(b"error: no") - 3
    found = distill([log[:half], log[half:]])
    assert "compiling unit 29999" in found.excerpt


def test_a_last_line_of_any_length_is_kept_in_short() -> None:
    for length in (5_000, 50_000, 3_000_000):
        windows = Scan([b"start\n", b"{" + b"x" * length + b"} it is over"]).windows()
        number, kept = windows[-1]
        assert kept.endswith(b"} it is over\n")
        assert number + kept.count(b"\n") - 1 == 2
        assert len(kept) < 10_000


def test_logs_distilled_in_several_threads_at_once_are_told_as_one_after_another() -> None:
    logs = [job(step(f"./check {n}", [f"Error: part {n} is broken"] * 3_000, 1)) for n in range(6)]
    alone = [distill([log]) for log in logs]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(3):
            assert list(pool.map(lambda log: distill([log]), logs)) == alone
