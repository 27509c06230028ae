"""Databases of former releases, with rows in them, and processes of a former release on a newer schema."""

import asyncio
import contextlib
import tomllib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    JSON,
    Connection,
    MetaData,
    NullPool,
    Table,
    create_engine,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from loops.store import access_tables, service_tables, work_tables  # noqa: F401  their tables belong to the metadata
from loops.store.base import Base
from loops.store.database import Database, async_url
from loops.store.migrations import config, upgrade
from loops.store.migrations.fit import compare
from loops.store.schema import judge, look, newest
from loops.store.tables import Turn
from tests.loops.store import frozen

REVISIONS = [script.revision for script in ScriptDirectory.from_config(config("sqlite://")).walk_revisions()][::-1]

Rows = dict[str, list[dict[str, Any]]]


@contextlib.asynccontextmanager
async def connected(url: str) -> AsyncIterator[AsyncConnection]:
    engine = create_async_engine(async_url(url), poolclass=NullPool)
    async with engine.begin() as connection:
        yield connection
    await engine.dispose()


async def migrate(url: str, revision: str) -> None:
    await asyncio.to_thread(command.upgrade, config(url), revision)


def reflected(connection: Connection) -> MetaData:
    found = MetaData()
    found.reflect(connection)
    found.remove(found.tables["alembic_version"])
    return found


def test_the_revisions_stand_in_one_line_and_none_was_changed() -> None:
    assert frozen.faults(frozen.listed(), frozen.present()) == []
    assert [f"{number:04}" for number in range(1, len(REVISIONS) + 1)] == REVISIONS


def test_the_first_section_of_the_changes_is_that_of_the_present_release() -> None:
    root = Path(__file__).parents[3]
    release = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    sections = [line for line in (root / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
    assert sections[0] == f"## {release}"


def test_a_revision_that_was_changed_or_taken_away_or_is_new_is_named() -> None:
    was = {"0001_a.py": "x", "0002_b.py": "y"}
    assert frozen.faults(was, was) == []
    assert [each.split()[0] for each in frozen.faults(was, {"0001_a.py": "z", "0003_c.py": "c"})] == [
        "0001_a.py",
        "0002_b.py",
        "0003_c.py",
    ]


async def test_the_migrations_build_exactly_the_tables_of_the_code(tmp_path: Path) -> None:
    await upgrade(f"sqlite:///{tmp_path}/a.db")
    await upgrade(f"sqlite:///{tmp_path}/a.db")
    engine = create_engine(f"sqlite:///{tmp_path}/a.db")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    engine.dispose()


async def test_rows_of_every_former_release_are_there_after_the_upgrade_and_its_processes_still_work(
    empty_url: str,
) -> None:
    numbers = iter(range(1, 1_000_000))
    stored: list[tuple[str, MetaData, Rows]] = []
    for revision in REVISIONS:
        await migrate(empty_url, revision)
        async with connected(empty_url) as connection:
            schema = await connection.run_sync(reflected)
            stored.append((revision, schema, await connection.run_sync(fill, schema, numbers)))
    async with connected(empty_url) as connection:
        for revision, schema, rows in stored:
            # a web or worker of that release knows no more than its own columns
            more = await connection.run_sync(fill, schema, numbers)
            for table in schema.sorted_tables:
                found = [dict(row._mapping) for row in await connection.execute(select(table))]
                for row in rows[table.name] + more[table.name]:
                    assert row.items() <= next(each for each in found if same_key(table, each, row)).items(), (
                        f"{table.name} of revision {revision}"
                    )
    database = Database(empty_url)
    async with database.read() as tx:
        for mapper in Base.registry.mappers:
            read = (await tx.execute(select(mapper.class_))).scalars().all()
            assert len(read) >= 2, mapper.class_
    await database.close()


async def test_no_revision_takes_anything_away_that_the_release_before_it_uses(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    before, unique = MetaData(), set[tuple[str, tuple[str, ...]]]()
    for revision in REVISIONS:
        await migrate(url, revision)
        async with connected(url) as connection:
            after = await connection.run_sync(reflected)
            now_unique = await connection.run_sync(uniques)
        assert {each for each in now_unique if each[0] in before.tables} == unique, revision
        needed = {table.name: set(table.columns.keys()) for table in before.sorted_tables}
        assert compare(described(after), needed) == [], revision
        for table in before.sorted_tables:
            for column in table.columns:
                now = after.tables[table.name].columns[column.name]
                was = (str(column.type), column.nullable)
                assert (str(now.type), now.nullable) == was, f"{revision}: {table.name}.{column.name}"
        before, unique = after, now_unique


async def test_what_somebody_asked_for_before_the_upgrade_is_theirs_after_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    await migrate(url, "0004")
    async with connected(url) as connection:
        schema = await connection.run_sync(reflected)
        sessions, turns = schema.tables["sessions"], schema.tables["turns"]
        await connection.execute(insert(sessions).values(row_of(sessions, 1, bare=True)))
        for number, asker in ((1, 41), (2, None)):
            values = row_of(turns, number, bare=True) | {"session_id": 1, "requested_by": asker}
            await connection.execute(insert(turns).values(values))
    await upgrade(url)
    database = Database(url)
    async with database.read() as tx:
        found = (await tx.execute(select(Turn).order_by(Turn.id))).scalars().all()
    assert [turn.owner_id for turn in found] == [41, None]
    await database.close()


async def test_a_schema_whose_revision_was_changed_after_it_was_run_is_refused_by_migrate_and_by_readiness(
    database: Database,
) -> None:
    async with database.write() as tx:
        await tx.execute(text("ALTER TABLE turns DROP COLUMN owner_id"))
    found = await look(database)
    assert not found.usable and "turns.owner_id is missing" in found.says
    with pytest.raises(ValueError, match=r"turns\.owner_id is missing.*Restore a backup"):
        await upgrade(database.url)


async def test_a_newer_schema_is_used_as_long_as_it_has_what_this_version_needs(database: Database) -> None:
    async with database.write() as tx:
        await tx.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        await tx.execute(text("ALTER TABLE turns ADD COLUMN later BIGINT"))
        await tx.execute(text("ALTER TABLE turns ADD COLUMN counted BIGINT NOT NULL DEFAULT 0"))
    found = await look(database)
    assert found.usable and "newer" in found.says
    async with database.write() as tx:
        await tx.execute(text("ALTER TABLE turns DROP COLUMN owner_id"))
    found = await look(database)
    assert not found.usable and "too new" in found.says and "turns.owner_id" in found.says


def test_a_column_that_has_to_be_written_and_is_not_known_is_a_misfit() -> None:
    known = {"id": {"nullable": False, "default": None}}
    demanding = known | {"new": {"nullable": False, "default": None}}
    assert compare({"turns": known}, {"turns": {"id"}}) == []
    assert compare({"turns": demanding}, {"turns": {"id"}, "boxes": {"name"}}) == [
        "there is no table boxes",
        "turns.new has to be written, and this version does not know it",
    ]


def test_an_older_schema_is_to_be_migrated_first() -> None:
    found = judge(["0001"], ["turns.owner_id is missing"])
    assert not found.usable and found.says.endswith("run greenloop migrate")
    assert judge(newest(), []).says == "ok"


def described(schema: MetaData) -> dict[str, dict[str, dict[str, Any]]]:
    return {
        table.name: {each.name: {"nullable": each.nullable, "default": each.server_default} for each in table.columns}
        for table in schema.sorted_tables
    }


def fill(connection: Connection, schema: MetaData, numbers: Iterator[int]) -> Rows:
    """Two rows in each table, one with no more than it needs and one with something in every column."""
    rows: Rows = {}
    for bare in (True, False):
        number = next(numbers)
        for table in schema.sorted_tables:
            row = row_of(table, number, bare=bare)
            connection.execute(insert(table).values(row))
            rows.setdefault(table.name, []).append(row)
    return rows


KNOWN = {
    ("sessions", "status"): "completed",
    ("notifications", "status"): "completed",
    ("sessions", "surface"): "github",
    ("sessions", "trigger"): "mention",
    ("sessions", "subject_kind"): "issue",
    ("sessions", "pull_state"): "open",
    ("turns", "status"): "done",
    ("turns", "kind"): "issue",
    ("turns", "trigger"): "mention",
}


def row_of(table: Table, number: int, *, bare: bool) -> dict[str, Any]:
    """A row of the table; `number` tells it from others, and ties it to the rows of the same number elsewhere."""
    values: dict[str, Any] = {}
    for column in table.columns:
        if bare and not column.primary_key and (column.nullable or column.server_default is not None):
            continue
        kind = column.type.python_type
        if (table.name, column.name) in KNOWN:
            values[column.name] = KNOWN[table.name, column.name]
        elif isinstance(column.type, JSON):
            values[column.name] = {}
        else:
            values[column.name] = {int: number, float: float(number), bool: True, bytes: b"x"}.get(kind, f"x{number}")
    return values


def same_key(table: Table, one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(one[column.name] == other[column.name] for column in table.primary_key)


def uniques(connection: Connection) -> set[tuple[str, tuple[str, ...]]]:
    """What may be there once only: (table, columns)."""
    found = inspect(connection)
    constraints = found.get_multi_unique_constraints()
    indexes = found.get_multi_indexes()
    return {
        (table, tuple(str(name) for name in each["column_names"]))
        for kinds in (constraints, indexes)
        for (_, table), many in kinds.items()
        for each in many
        if each.get("unique", True)
    }
