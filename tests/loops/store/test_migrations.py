from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine

from loops.store.migrations import upgrade
from loops.store.tables import Base


async def test_the_migrations_build_exactly_the_tables_of_the_code(tmp_path: Path) -> None:
    await upgrade(f"sqlite:///{tmp_path}/a.db")
    await upgrade(f"sqlite:///{tmp_path}/a.db")
    engine = create_engine(f"sqlite:///{tmp_path}/a.db")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    engine.dispose()
