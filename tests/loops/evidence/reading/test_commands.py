"""Lines that repeat what was run, by whoever prints them; and the one behind a failure is told however far above."""

import pytest

from loops.evidence import distill
from loops.evidence.reading.commands import is_command
from tests.loops.evidence.logs import job, step


@pytest.mark.parametrize(
    "line",
    [
        "+ python -m pytest -m 'not slow' -n auto pandas",
        "++ dirname ./ci/run.sh",
        "$ yarn prettier-check",
        "> jest --ci test",
        "> shop@1.0.0 test",
        "apps/shop ci$ pnpm tsc --p tsconfig.ci.json",
        "types: commands[0]> mypy --strict src",
        "nox > pytest -x tests",
        "[command]/usr/bin/docker buildx bake --push",
        "pytest -r fE -n 4 --dist=worksteal pandas",
        "PYTHONHASHSEED=3 CI= python -W error -m unittest",
        "/home/runner/work/shop/shop/.venv/bin/pytest tests/unit",
        "./gradlew --no-daemon check",
        "go test -race ./...",
        "cargo test --workspace",
        "make -C native all",
        "RUN: at line 2: /build/bin/llc -mtriple=x86_64 < a.ll",
        "Running command: ninja -C build check",
        "Executing: 'cmake --build build'",
        "#33 1.204 + make -C native STATIC=1",
        "npm run test --workspaces",
        "  └> dart analyze --fatal-infos",
        "🚀 EXECUTING: npx tsx tools/checks/routes.ts",
        "→ make -C native all",
    ],
)
def test_a_line_that_repeats_a_command_is_one(line: str) -> None:
    assert is_command(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "make: *** [Makefile:12: test] Error 1",
        "go: downloading golang.org/x/sys v0.21.0",
        "npm warn deprecated inflight@1.0.6",
        "git version 2.53.0",
        "python is not installed",
        "     └> FAILED",
        "✓ node v20.1.0 installed",
        "🏁 STARTING VALIDATION",
        "docker: Error response from daemon: no such image",
        "Running 14 tests",
        "Running: 3 of 14",
        "+ added a line of a diff" * 60,
        "> assert total([1, 2]) == 4",
        "[INFO] Scanning for projects...",
        "Cost in $ per run: 3",
        "time was 3 s",
    ],
)
def test_a_line_of_a_tool_s_own_words_is_none(line: str) -> None:
    assert not is_command(line)


def test_the_command_behind_a_failure_is_told_from_thousands_of_lines_above() -> None:
    calm = [f"src/part_{n}.ts 3 ms" for n in range(9_000)]
    lines = ["+ ./configure --fast", "+ pnpm tsc --p tsconfig.ci.json", *calm, "src/a.ts(3,5): error TS2322: Type 'x'."]
    found = distill([job(step("./ci.sh", lines, 2))])
    assert "+ pnpm tsc --p tsconfig.ci.json\n" in found.excerpt


def test_of_programs_beside_each_other_each_has_its_own_command_told() -> None:
    other = [f"packages/core ci: ok {n}" for n in range(4_000)]
    lines = [
        "apps/shop ci$ node check.mjs --strict",
        "packages/core ci$ node build.mjs --all",
        *other,
        "apps/shop ci: Error: basket is empty",
        *other,
    ]
    found = distill([job(step("pnpm -r ci", lines, 1))])
    assert "apps/shop ci$ node check.mjs --strict\n" in found.excerpt


def test_what_an_action_was_given_is_told_where_it_failed() -> None:
    action = [
        "##[group]Run actions/github-script@v7",
        "with:",
        "  script: const check = require('./scripts/check.cjs')",
        "await check({ github, context })",
        "",
        "  github-token: ***",
        "env:",
        "  NODE_OPTIONS: --no-warnings",
        "##[endgroup]",
        "##[error]Unhandled error: Error: no such label",
    ]
    found = distill([job(action)])
    assert "await check({ github, context })\n" in found.excerpt
    assert "script: const check" in found.excerpt


def test_a_version_that_the_failure_names_is_told_where_it_was_fetched() -> None:
    calm = [f"test_{n} passed" for n in range(9_000)]
    fetched = "  Downloading https://nightly.example.org/shapeline-3.0.0.dev20260228-cp312.whl (9.1 MB)"
    error = "E   RemovedIn3Error: orientation() is gone since 3.0.0.dev20260228"
    found = distill([job(step("./ci.sh", ["Collecting shapeline", fetched, *calm, error], 1))])
    assert fetched.strip() in found.excerpt


def test_the_line_that_an_indented_failure_stands_below_is_told() -> None:
    calm = [f"           wrote {n} bytes" for n in range(20)]
    lines = ["[14/23] snapshot_is_shipped", *calm, "         FAILURE after 180 s: timeout while waiting", *calm * 9]
    found = distill([job(step("./rig", ["[13/23] other", *calm * 30, *lines, "[15/23] last", *calm * 30], 3))])
    assert "[14/23] snapshot_is_shipped\n" in found.excerpt
