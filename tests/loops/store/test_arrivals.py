"""Groups of deliveries on their way to the disk, several at once."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import func, select

from loops.store.arrivals import CHECKPOINT_BYTES, Arrival, SqliteArrivals, arrivals, lane_of
from loops.store.database import Database
from loops.store.states import Lane
from loops.store.tables import Delivery


def arrival(guid: str, size: int = 2) -> Arrival:
    return Arrival(guid, "status", None, 3, 7, b"x" * size, 1.0)


async def test_groups_that_hold_the_same_deliveries_in_any_order_are_stored_once(database: Database) -> None:
    inbox = arrivals(database)
    group = [arrival(f"g-{n:03}") for n in range(100)]
    copies = [group, group[::-1], group[50:] + group[:50], group[::2] + group[1::2]]
    await asyncio.gather(*(inbox.store(copy) for copy in copies for _ in range(3)))
    await inbox.close()
    async with database.read() as tx:
        assert (await tx.execute(select(func.count()).select_from(Delivery))).scalar_one() == 100


async def test_the_log_is_copied_into_the_database_while_more_is_stored(tmp_path: Path, sqlite_url: str) -> None:
    file = tmp_path / "greenloop.db"
    before = file.stat().st_size
    inbox = SqliteArrivals(str(file))
    await inbox.store([arrival("large", CHECKPOINT_BYTES)])
    assert inbox._copied is not None
    await asyncio.to_thread(inbox._copied.result, 60)
    assert before < CHECKPOINT_BYTES < file.stat().st_size
    await inbox.store([arrival("small")])
    await inbox.close()


@pytest.mark.parametrize(
    ("event", "action", "lane"),
    [
        ("issue_comment", "created", Lane.PEOPLE),
        ("check_run", "requested_action", Lane.PEOPLE),
        ("check_suite", "rerequested", Lane.PEOPLE),
        ("pull_request", "opened", Lane.NEWS),
        ("installation", "created", Lane.NEWS),
        ("pull_request", "synchronize", Lane.HINTS),
        ("check_run", "completed", Lane.HINTS),
        ("workflow_run", "completed", Lane.HINTS),
        ("status", None, Lane.HINTS),
        ("push", None, Lane.HINTS),
    ],
)
def test_what_people_do_comes_before_news_and_news_before_hints(event: str, action: str | None, lane: Lane) -> None:
    assert lane_of(event, action) is lane
