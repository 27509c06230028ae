"""A short run of `make chaos` on each database: web, workers, boxes, Redis and the database are killed and paused."""

import pytest

from tests.chaos.run import Options, run
from tests.tools import need


@pytest.mark.timeout(600)  # it waits for conditions; on a machine that is free it takes less than a minute
@pytest.mark.parametrize(("database", "seed"), [("sqlite", 3), ("postgres", 5)])
async def test_every_invariant_holds_whoever_is_killed_or_paused(database: str, seed: int) -> None:
    need("git")
    if database == "postgres":
        need("postgres")
    told: list[str] = []
    result = await run(Options(seed, rounds=1, database=database), told.append)
    assert result.holds, "\n".join([*told, str(result.violated), str(result.facts)])
