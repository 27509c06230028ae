"""`make chaos [SEED=…] [ROUNDS=…] [DATABASE=sqlite|postgres]`: kill and pause everything at random, and see what holds.

The schedule follows from the seed, which is printed first: the same seed again is the same schedule. Exit 1 where an
invariant does not hold.
"""

import argparse
import asyncio
import random
import shutil
import sys

from app.logging import configure
from tests.chaos.run import Options, Result, run

NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="which schedule; by default another one each time")
    parser.add_argument("--rounds", type=int, default=5, help="how many rounds of ten seconds")
    parser.add_argument("--database", choices=[*NAMES, "both"], default="both")
    given = parser.parse_args()
    configure("error", json=False)
    seed = random.SystemRandom().randrange(1_000_000) if given.seed is None else given.seed
    good = True
    if given.database != "sqlite" and shutil.which("postgres") is None:
        print("`postgres` is not on PATH: install PostgreSQL, or take DATABASE=sqlite", file=sys.stderr)
        return 2
    for database in NAMES if given.database == "both" else [given.database]:
        print(f"chaos: seed {seed}, {given.rounds} rounds, {NAMES[database]}", flush=True)
        result = asyncio.run(run(Options(seed, given.rounds, database), say))
        report(result)
        good = good and result.holds
    if not good:
        print(f"chaos: again with `make chaos SEED={seed} ROUNDS={given.rounds} DATABASE={given.database}`")
    return 0 if good else 1


def say(line: str) -> None:
    print(f"  {line}", flush=True)


def report(result: Result) -> None:
    """Each request's end, and each invariant."""
    for session in result.facts.sessions:
        say(f"#{session.issue}: {session.status} {session.outcome or session.reason}, {len(session.turns)} turns")
    for name, violated in result.violated.items():
        print(f"{'FAIL' if violated else 'ok':5}{name}", flush=True)
        for each in violated:
            say(each)


if __name__ == "__main__":
    sys.exit(main())
