"""Whether the tables that a database has are those that this version of the service reads and writes."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, MetaData, inspect

from loops.store import access_tables, service_tables, tables, work_tables  # noqa: F401  each adds its own to the metadata
from loops.store.base import Base

MADE_OTHERWISE = "it was not made by the migrations of this version. Restore a backup, or begin with an empty database"

Columns = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Table -> column -> what the database says of it."""


def misfits(connection: Connection, needed: MetaData = Base.metadata) -> list[str]:
    """What keeps the code from working with the database's tables, in words; empty where it can.

    A number of a schema alone proves little: a revision may have been changed after it was run, and a newer schema may
    have given up what this version still needs. A column more is no misfit as long as rows may do without it.
    """
    found = inspect(connection).get_multi_columns()
    has = {name: {column["name"]: column for column in columns} for (_, name), columns in found.items()}
    return compare(has, {table.name: set(table.columns.keys()) for table in needed.sorted_tables})


def compare(has: Columns, needed: Mapping[str, set[str]]) -> list[str]:
    """The same of what was read already. Pure."""
    told = []
    for table, columns in sorted(needed.items()):
        if table not in has:
            told.append(f"there is no table {table}")
            continue
        told += [f"{table}.{name} is missing" for name in sorted(columns - has[table].keys())]
        told += [
            f"{table}.{name} has to be written, and this version does not know it"
            for name, column in sorted(has[table].items())
            if name not in columns and not column["nullable"] and column["default"] is None
        ]
    return told
