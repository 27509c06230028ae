"""No statement of the service walks a table that grows with everything that ever happened."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from app.process.wiring import open_loop
from loops.boxes.reaper import reap
from loops.deliveries.missed_deliveries import redeliver_missed
from loops.store.database import async_url
from loops.store.retention import forget_old
from tests.e2e.house import House, house
from tests.plans import recorded, walks

TOKEN = "a-long-random-token"
REPAIRS = "pathlib.Path('value.txt').write_text('right' if 'value.txt' in prompt or 'CI' in prompt else 'other')"
ON_PURPOSE = {
    "ORDER BY sessions.id DESC": "the newest sessions of a list: it stops once the page is full",
    "NOT IN": "sessions and turns that have ended, counted once a minute",
    "min(deliveries.received_at)": "since when installations are known: all once, and then what came since",
    "max(deliveries.received_at)": "the newest delivery: the end of an index",
}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_the_loop_from_a_mention_to_green_and_all_its_surfaces_walk_no_large_table(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    url: str = request.getfixturevalue(f"{kind}_url")
    home: House | None = None
    with recorded(but=lambda: home.database.reader if home else None) as statements:
        async with house(tmp_path, database_url=url, api_token=TOKEN) as home:
            home.agent(REPAIRS)
            number = await home.issue()
            await home.comment(number, "@greenloop change it")
            session = await home.ended()
            await home.comment(session.pull_number or 0, "@greenloop retry")
            await home.handled("issue_comment", 2)
            await home.ended()
            await surfaces(home.settings.public_url, session.public_id)
            async with open_loop(home.settings, home.settings.redis_url, "the other worker") as loop:
                await reap(loop)
                await redeliver_missed(loop)
                await forget_old(loop.database, loop.options)
    assert len(statements) > 60
    engine = create_async_engine(async_url(url))
    async with engine.connect() as connection:
        found = await walks(connection, statements)
    await engine.dispose()
    told = [f"{said}: {statement}" for statement, said in found.items() if not on_purpose(statement)]
    assert told == [], "\n".join(told)


def on_purpose(statement: str) -> bool:
    return any(each in statement for each in ON_PURPOSE)


async def surfaces(url: str, session: str) -> None:
    """What people and programs read."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    pages = ("/", f"/sessions/{session}", f"/sessions/{session}?before=2", "/metrics", "/readyz")
    api = ("/api/v1/sessions", "/api/v1/sessions?status=completed", f"/api/v1/sessions/{session}")
    async with httpx.AsyncClient(base_url=url, timeout=30) as http:
        answers: list[Any] = [await http.get(page) for page in pages]
        answers += [await http.get(path, headers=headers) for path in api]
    assert [answer.status_code for answer in answers] == [200] * len(answers), [str(each.url) for each in answers]
