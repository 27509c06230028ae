from pathlib import Path

import pytest

from app.settings import Settings


@pytest.fixture
def settings(tmp_path: Path, sqlite_url: str, redis_url: str) -> Settings:
    """What is stored is tried with PostgreSQL in `tests/loops/gateway`."""
    return Settings(data=tmp_path, database_url=sqlite_url, redis_url=redis_url, webhook_secrets="a secret of ours")
