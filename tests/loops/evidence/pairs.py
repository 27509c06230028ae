"""A failing job's log and that of the same job when it passed, from one text that has both.

Of each line the first character says where it stands: ` ` in both logs, `-` in the failing one, `+` in the passing
one. The second marks what a person needs: `!` critically, `§` too. `@job NAME` begins a pair; `@run COMMAND` and
`@action NAME` begin a step, `@exit CODE` ends one that failed, `@noise KIND COUNT` stands for that many lines of
what tools print while nothing is wrong, in another order and with other numbers in either log. `@flood COUNT TEXT`
stands for that many times a text that differs in `{n}`, `{m}` and `{w}` alone, `⏎` in it for the end of a line.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.bench.ordinary import KINDS, PARTS
from tests.loops.evidence.logs import job, step

HERE = Path(__file__).parent / "pairs"
FAILING, PASSING = " -", " +"


@dataclass(frozen=True)
class Pair:
    """`wanted` are the marked lines, and whether each is critical; `source` is the file without its end."""

    source: str
    name: str
    red: bytes
    green: bytes
    wanted: tuple[tuple[str, bool], ...]


@cache
def pairs() -> tuple[Pair, ...]:
    """All of them, in order of their files."""
    return tuple(
        _pair(file.stem, block)
        for file in sorted(HERE.glob("*.txt"))
        for block in file.read_text().split("@job ")
        if block.strip()
    )


def _pair(source: str, block: str) -> Pair:
    name, _, rest = block.partition("\n")
    lines = [line for line in rest.split("\n") if line.strip()]
    wanted = tuple((line[2:].strip(), line[1] == "!") for line in lines if line[1:2] in ("§", "!"))
    return Pair(source, name, _log(name, lines, FAILING), _log(name, lines, PASSING), wanted)


def _log(name: str, lines: list[str], sides: str) -> bytes:
    steps: list[list[str]] = []
    for number, line in enumerate(lines):
        if line[0] not in sides:
            continue
        if line[1:2] != "@":
            steps[-1].append(line[2:])
            continue
        directive, _, words = line[2:].partition(" ")
        if directive == "run":
            steps.append(step(words, []))
        elif directive == "action":
            steps.append([f"##[group]Run {words}", "with:"])
        elif directive == "exit":
            steps[-1].append(f"##[error]Process completed with exit code {words}.")
        elif directive == "noise":
            steps[-1] += _noise(*words.split(), seed=f"{name} {number} {sides}")
        elif directive == "flood":
            steps[-1] += _flood(*words.split(" ", 1), seed=f"{name} {number}")
        else:
            raise ValueError(f"{name}: no such directive: {line!r}")
    return job(*steps, name=name)


def _noise(kind: str, count: str, *, seed: str) -> Iterator[str]:
    chance = random.Random(seed)
    kinds = KINDS[{"passing": "passing tests", "application": "an application's log"}.get(kind, kind)]
    made = 0
    while made < int(count):
        one = chance.choice(kinds)
        for _ in range(chance.randint(1, 30)):
            for part in one(chance).split("\n"):
                yield part
                made += 1


def _flood(count: str, text: str, *, seed: str) -> Iterator[str]:
    chance = random.Random(seed)
    for n in range(1, int(count) + 1):
        words = f"{chance.choice(PARTS)}_{chance.choice(PARTS)}"
        yield from text.format(n=n, m=chance.randint(1, 900), w=words).split("⏎")
