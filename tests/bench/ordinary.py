"""Ordinary failing logs of any size: what CI tools print while nothing is wrong, a few words of failure in it that mean
nothing, and one failing test at the end. Kinds of them are one thing over and over."""

import random
from collections.abc import Callable, Iterator
from typing import BinaryIO

SEED = 6
HEAD = (
    "Current runner version: '2.333.1'",
    "##[group]Run actions/checkout@v4",
    "##[endgroup]",
    "##[group]Run make test",
    "\x1b[36;1mmake test\x1b[0m",
    "shell: /usr/bin/bash -e {0}",
    "##[endgroup]",
)
FAILURE = (
    "=================================== FAILURES ===================================",
    "__________________________________ test_total __________________________________",
    ">       assert total([1, 2]) == 4",
    "E       assert 3 == 4",
    "tests/test_shop.py:5: AssertionError",
    "=========================== short test summary info ============================",
    "FAILED tests/test_shop.py::test_total - assert 3 == 4",
    "================== 1 failed, 91234 passed in 1312.42s ==================",
    "##[error]Process completed with exit code 1.",
    "Post job cleanup.",
)
PARTS = ("orders", "users", "billing", "search", "mail", "errors", "auth", "cart")
DEEDS = ("saves", "loads", "rejects_bad_input", "raises_an_error", "is_idempotent", "sorts", "counts", "expires")


Line = Callable[[random.Random], str]


def write(out: BinaryIO, size: int, kind: str = "ordinary", *, seed: int = SEED) -> None:
    """Write a log of at least `size` bytes, the same for the same size, kind and seed."""
    written = 0
    for number, line in enumerate(_lines(KINDS[kind], seed)):
        clock = f"{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.{number % 9973:04}123"
        written += out.write("".join(f"2026-03-01T{clock}Z {part}\n" for part in line.split("\n")).encode())
        if written >= size:
            break
    out.write("".join(f"2026-03-02T00:00:00.0000123Z {line}\n" for line in FAILURE).encode())


def _lines(kinds: tuple[Line, ...], seed: int) -> Iterator[str]:
    yield from HEAD
    rng = random.Random(seed)
    while True:
        kind = rng.choice(kinds)
        # tools print in runs
        for _ in range(rng.randint(5, 80)):
            yield kind(rng)


def _pytest(rng: random.Random) -> str:
    test = f"tests/unit/test_{rng.choice(PARTS)}.py::test_{rng.choice(DEEDS)}[{rng.randint(0, 9999)}]"
    return f"{test} PASSED [ {rng.randint(1, 99):2}%]"


def _go(rng: random.Random) -> str:
    return f"ok  \tgithub.com/acme/shop/internal/{rng.choice(PARTS)}\t{rng.random() * 3:.3f}s"


def _jest(rng: random.Random) -> str:
    return f"  \x1b[32m✓\x1b[39m \x1b[2mrenders the list of {rng.choice(PARTS)} ({rng.randint(1, 90)} ms)\x1b[22m"


def _docker(rng: random.Random) -> str:
    name = f"lib{rng.choice(('ssl', 'xml2', 'curl', 'gpg-error'))}-dev"
    return (
        f"#{rng.randint(5, 30)} {rng.random() * 90:.3f} Get:{rng.randint(1, 300)} http://deb.debian.org/debian {name}"
    )


def _npm(rng: random.Random) -> str:
    package = rng.choice(("lodash", "react", "chalk", "http-errors"))
    return f"npm http fetch GET 200 https://registry.npmjs.org/{package} {rng.randint(9, 900)}ms (cache miss)"


def _cargo(rng: random.Random) -> str:
    crate = rng.choice(("serde", "tokio", "syn", "thiserror"))
    return f"   Compiling {crate} v1.{rng.randint(0, 99)}.{rng.randint(0, 30)}"


def _application(rng: random.Random) -> str:
    if rng.random() < 0.02:
        return f"WARN  [worker] connection refused, trying again ({rng.randint(1, 5)} of 5)"
    return f"INFO  [main] shop.{rng.choice(PARTS)} - handled request {rng.getrandbits(30)} in {rng.randint(1, 900)} ms"


def _pip(rng: random.Random) -> str:
    return f"Downloading https://files.pythonhosted.org/packages/{rng.getrandbits(80):x}/shop-1.{rng.randint(1, 9)}.whl"


def _warning(rng: random.Random) -> str:
    line, column = rng.randint(1, 900), rng.randint(1, 80)
    return (
        f"src/{rng.choice(PARTS)}/m{rng.randint(0, 300)}.cc:{line}:{column}: warning: comparison of integer "
        "expressions of different signedness [-Wsign-compare]\n"
        f"  {line} |   for (int i = 0; i < items.size(); i++) {{\n"
        "      |                   ~~^~~~~~~~~~~~~~"
    )


def _failing(rng: random.Random) -> str:
    test, got = f"test_{rng.choice(DEEDS)}_{rng.randint(0, 9999)}", rng.randint(0, 999)
    return (
        f"{'_' * 30} {test} {'_' * 30}\n\n    def {test}():\n>       assert basket.total() == {got + 1}\n"
        f"E       assert {got} == {got + 1}\nE        +  where {got} = total()\n\n"
        f"tests/test_{rng.choice(PARTS)}.py:{rng.randint(1, 400)}: AssertionError"
    )


def _error(rng: random.Random) -> str:
    return f"ERROR: worker {rng.getrandbits(20)} failed to connect to {rng.choice(PARTS)}: connection refused"


KINDS: dict[str, tuple[Line, ...]] = {
    "ordinary": (_pytest, _pytest, _go, _jest, _docker, _npm, _cargo, _application, _pip),
    "passing tests": (_pytest, _go, _jest),
    "downloads": (_docker, _npm, _cargo, _pip),
    "an application's log": (_application,),
    "warnings": (_warning,),
    "failing tests": (_pytest, _failing),
    "an error a line": (_error,),
}
