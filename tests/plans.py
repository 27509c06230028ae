"""How databases would carry out the statements that the service really sends: by an index, or by walking a table."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.ext.asyncio import AsyncConnection

from loops.store.base import Base

LARGE = ("deliveries", "sessions", "turns", "events")
"""Tables that grow with everything that ever happened."""

Statements = dict[str, Any]


@contextlib.contextmanager
def recorded(*, but: Callable[[], Engine | None]) -> Iterator[Statements]:
    """The statements that are sent while the block runs by the engines of this process, each with parameters it had.

    `but`: an engine of the test's own.
    """
    seen: Statements = {}

    def note(connection: Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:
        about = re.match(r"(SELECT|UPDATE|DELETE|WITH)\b", statement) and any(table in statement for table in LARGE)
        if about and connection.engine is not but():
            seen.setdefault(statement, parameters[0] if many else parameters)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


async def walks(connection: AsyncConnection, statements: Statements) -> dict[str, str]:
    """The statements for which the database would walk a whole large table, or a whole index of one: what it says.

    PostgreSQL is kept from walking tables and indexes wherever it has a choice: those of a test are so small that it
    always would.
    """
    found = {}
    postgres = connection.dialect.name == "postgresql"
    if postgres:
        for way in ("seqscan", "indexscan", "indexonlyscan"):  # which leaves what an index finds by a condition
            await connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
    for statement, parameters in list(statements.items()):
        told = await (_postgres if postgres else _sqlite)(connection, statement, parameters)
        if told:
            found[statement] = told
    return found


async def _sqlite(connection: AsyncConnection, statement: str, parameters: Any) -> str | None:
    plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
    for row in plan:
        scan = re.match(r"SCAN (\w+?)(?:_\d+)?(?: USING (?:COVERING )?INDEX (\w+))?$", row.detail)
        if scan and scan[1] in LARGE and scan[2] not in partial():
            return str(row.detail)
    return None


async def _postgres(connection: AsyncConnection, statement: str, parameters: Any) -> str | None:
    plan = (await connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", parameters)).scalar_one()
    nodes = [(plan if isinstance(plan, list) else json.loads(plan))[0]["Plan"]]
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        index = node.get("Index Name")
        table = node.get("Relation Name") or next((name for name in LARGE if index and index.startswith(name)), None)
        if table not in LARGE:
            continue
        whole = index is not None and "Index Cond" not in node and index not in partial()
        if node["Node Type"] == "Seq Scan" or whole:
            return f"{node['Node Type']} on {table} {index or ''}".strip()
    return None


def partial() -> set[str]:
    """Indexes over those rows alone that are under way: to walk one is to look at what is to be done."""
    return {
        str(index.name)
        for table in Base.metadata.sorted_tables
        for index in table.indexes
        if index.dialect_options["sqlite"]["where"] is not None and index.name != "sessions_ended"
    }
