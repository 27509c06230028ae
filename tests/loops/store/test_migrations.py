import asyncio
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import JSON, Engine, MetaData, Table, create_engine, insert, select

from loops.store import service_tables  # noqa: F401  its tables belong to the metadata
from loops.store.base import Base
from loops.store.database import Database
from loops.store.migrations import config, upgrade
from loops.store.tables import Turn


async def test_the_migrations_build_exactly_the_tables_of_the_code(tmp_path: Path) -> None:
    await upgrade(f"sqlite:///{tmp_path}/a.db")
    await upgrade(f"sqlite:///{tmp_path}/a.db")
    engine = create_engine(f"sqlite:///{tmp_path}/a.db")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    engine.dispose()


@pytest.mark.parametrize("revision", ["0001", "0002"])
async def test_what_a_former_release_stored_is_there_after_the_upgrade(tmp_path: Path, revision: str) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    await asyncio.to_thread(command.upgrade, config(url), revision)
    engine = create_engine(url)
    tables = ("installations", "repositories", "people", "profiles", "sessions", "turns", "deliveries")
    with engine.begin() as connection:
        for name in tables:
            connection.execute(insert(_table(engine, name)).values(_row(_table(engine, name))))
    await upgrade(url)
    with engine.begin() as connection:
        for name in tables:
            assert len(connection.execute(select(_table(engine, name))).all()) == 1, name
        # and the processes of the former release, which know nothing of the new columns, can still write
        turns = _table(engine, "turns")
        former = _row(turns, number=2, public_id="t_2", id=2)
        connection.execute(insert(turns).values({k: v for k, v in former.items() if k not in ("retries", "afresh")}))
    database = Database(url)
    async with database.read() as tx:
        assert [(turn.retries, turn.afresh) for turn in (await tx.execute(select(Turn))).scalars()] == [(0, False)] * 2
    await database.close()
    engine.dispose()


async def test_what_somebody_asked_for_before_the_upgrade_is_theirs_after_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    await asyncio.to_thread(command.upgrade, config(url), "0004")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(insert(_table(engine, "sessions")).values(_row(_table(engine, "sessions"))))
        for number, asker in ((1, 41), (2, None)):
            more = {"id": number, "number": number, "public_id": f"t_{number}", "requested_by": asker}
            connection.execute(insert(_table(engine, "turns")).values(_row(_table(engine, "turns"), **more)))
    await upgrade(url)
    database = Database(url)
    async with database.read() as tx:
        found = (await tx.execute(select(Turn).order_by(Turn.id))).scalars().all()
    assert [turn.owner_id for turn in found] == [41, None]
    await database.close()
    engine.dispose()


def _table(engine: Engine, name: str) -> Table:
    return Table(name, MetaData(), autoload_with=engine)


def _row(table: Table, **more: Any) -> dict[str, Any]:
    """A row with something in every column that needs it."""
    some = {int: 1, float: 1.0, str: "x", bytes: b"x", bool: True, dict: {}}
    known = {"status": "done", "kind": "issue", "trigger": "mention", "surface": "github", "subject_kind": "issue"}
    values = {
        each.name: {} if isinstance(each.type, JSON) else known.get(each.name, some[each.type.python_type])
        for each in table.columns
        if not each.nullable
    }
    if table.name == "sessions":
        values["status"] = "completed"
    return values | more
