"""The command `greenloop distill`, as a process of its own: standard input, arguments, output and exit code."""

import json
import os
import pty
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from tests.loops.evidence.logs import job, step

COMMAND = [sys.executable, "-m", "app", "distill"]
FAILING = job(
    step("ruff check .", ["src/a.py:1:8: F401 `os` imported but unused", "Found 1 error."], 1),
    step(
        "python -m pytest",
        [
            "E       assert 3 == 4",
            "tests/test_shop.py:5: AssertionError",
            "FAILED tests/test_shop.py::test_total - assert 3 == 4",
            "=== 1 failed, 8 passed in 0.12s ===",
        ],
        1,
    ),
)


def run(log: bytes | IO[bytes], *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    command = [*COMMAND, *arguments]
    if isinstance(log, bytes):
        return subprocess.run(command, input=log, capture_output=True, timeout=60)
    return subprocess.run(command, stdin=log, capture_output=True, timeout=60)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (b"", "The log is empty.\n"),
        (random.Random(6).randbytes(40_000) + b"\n", "The log is binary, not text (40001 bytes).\n"),
        (random.Random(6).randbytes(40_000) + b"x", "The log is binary, not text (40001 bytes).\n"),
        (b"\xff" * 3_000_000, "The log is binary, not text (3000000 bytes).\n"),
        (job(step("make", ["compiling", "0 errors"])), "Nothing in this log of 28 lines says that anything failed.\n"),
    ],
    ids=["empty", "binary", "binary-without-an-end", "binary-of-one-line", "passing"],
)
def test_a_log_without_a_failure_is_told_in_one_line_and_is_no_error(log: bytes, said: str) -> None:
    done = run(log)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, said, b"")


def test_the_excerpt_comes_alike_from_a_pipe_and_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(FAILING)
    piped = run(FAILING)
    with path.open("rb") as file:
        assert run(file).stdout == piped.stdout
    assert piped.returncode == 0
    assert piped.stdout.startswith(b"Failed step: python -m pytest, exit code 1\n")
    assert b"FAILED tests/test_shop.py::test_total - assert 3 == 4" in piped.stdout


def test_json_has_the_kind_the_name_the_tests_the_places_and_the_shown_lines() -> None:
    done = run(FAILING, "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["kind"] == "test"
    assert len(found["fingerprint"]) == 16
    assert found["failing_tests"] == ["tests/test_shop.py::test_total"]
    assert {"file": "tests/test_shop.py", "line": 5, "message": "AssertionError", "tool": "pytest"} in found[
        "diagnostics"
    ]
    assert ("src/a.py", 1) in [(each["file"], each["line"]) for each in found["diagnostics"]]
    assert all(first <= last <= found["total_lines"] for first, last in found["shown"])
    assert (found["step"], found["command"], found["exit_code"]) == ("python -m pytest", "python -m pytest", 1)


@pytest.mark.parametrize("arguments", [[], ["--budget", "16000"]], ids=["plain", "with-an-option"])
def test_the_command_starts_without_what_the_service_needs(arguments: list[str]) -> None:
    code = """import sys; from app.__main__ import main
try:
    main()
finally:
    print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)"""
    done = subprocess.run([sys.executable, "-c", code, "distill", *arguments], input=FAILING, capture_output=True)
    assert done.stdout == run(FAILING).stdout != b""
    imported = set(done.stderr.decode().split())
    assert imported & {"githubkit", "httpx", "kubernetes", "sqlalchemy", "starlette", "uvicorn"} == set()
    assert ("typer" in imported) == bool(arguments)


@pytest.mark.parametrize("budget", [1, 100, 500])
def test_a_tiny_budget_holds(budget: int) -> None:
    done = run(FAILING, "--budget", str(budget))
    assert done.returncode == 0
    assert 0 < len(done.stdout) <= budget
    assert done.stdout.decode().startswith("Failed step: python"[:budget])


def test_the_failed_step_may_be_named() -> None:
    assert run(FAILING, "--failed-step", "ruff check .").stdout.startswith(b"Failed step: ruff check ., exit code 1")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--changed", "src/m137.py", "src/m141.py"],
        ["--changed", "src/m137.py", "--changed", "src/m141.py"],
        ["--changed", "src/m137.py", "src/m141.py", "--json"],
    ],
)
def test_lines_that_name_changed_files_are_shown_before_others(arguments: list[str]) -> None:
    errors = [f"src/m{n:03}.py:{n + 1}: error: Name 'x{n}' is not defined  [name-defined]" for n in range(200)]
    log = job(step("mypy src", [*errors, "Found 200 errors in 200 files (checked 200 source files)"], 1))
    shown = run(log, "--budget", "3000", *arguments).stdout
    assert b"src/m137.py:138" in shown
    assert b"src/m141.py:142" in shown
    assert b"| src/m141.py:142" not in run(log, "--budget", "3000").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--budget", "0"], "--budget"),
        (["--budget", "much"], "--budget"),
        (["--nonsense"], "--nonsense"),
        (["job.log"], "greenloop distill < job.log"),
        (["--failed-step"], "--failed-step"),
    ],
)
def test_a_bad_argument_is_named_and_the_exit_code_is_two(arguments: list[str], said: str) -> None:
    done = run(FAILING, *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    words = " ".join(re.sub(r"[─│╭╮╰╯]", " ", done.stderr.decode()).split())
    assert said in words
    assert "Traceback" not in done.stderr.decode()


def test_a_terminal_as_input_is_told_where_the_log_comes_from() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb"), os.fdopen(theirs, "rb", closefd=True) as terminal:
        done = run(terminal)
    assert done.returncode == 2
    assert b"standard input" in done.stderr


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    errors = "".join(f"src/m{n:05}.py:{n}: error: {'bad ' * 60}\n" for n in range(2_000)).encode()
    with subprocess.Popen(
        [*COMMAND, "--json", "--budget", "900000"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write(errors)
        process.stdin.close()
        said = process.stderr.read()
        assert process.wait(60) == 0
    assert said == b""


def test_a_token_in_the_log_is_not_written() -> None:
    token = "ghp_" + "aB3dE5fG7h" * 4
    log = job(step(f"deploy {token}", [f"error: {token} was refused"], 1))
    for arguments in ([], ["--json"]):
        done = run(log, *arguments)
        assert b"was refused" in done.stdout
        assert token.encode()[4:] not in done.stdout
