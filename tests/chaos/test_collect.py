import subprocess
import sys
from pathlib import Path

from loops.store.database import Database
from loops.store.tables import Delivery
from tests.chaos import collect
from tests.databases import on_sqlite


def test_a_process_that_outlived_its_service_is_found_by_what_it_names_and_where_it_works(tmp_path: Path) -> None:
    assert collect.processes_left_over(tmp_path) == []
    waits = [sys.executable, "-c", "input()"]
    named = subprocess.Popen([*waits, str(tmp_path)], stdin=subprocess.PIPE)
    within = subprocess.Popen(waits, stdin=subprocess.PIPE, cwd=tmp_path)
    try:
        found = "\n".join(collect.processes_left_over(tmp_path))
        assert f"process {named.pid}:" in found and f"process {within.pid}:" in found
    finally:
        for process in (named, within):
            process.communicate(b"\n")


@on_sqlite
async def test_a_row_that_is_still_held_or_due_is_found(database: Database) -> None:
    assert await collect.rows_left_over(database) == []
    async with database.write() as tx:
        tx.add(Delivery(guid="g", event="issues", received_at=1.0, status="done", lease_until=2.0))
    assert await collect.rows_left_over(database) == ["1 rows of deliveries under lease or due"]
