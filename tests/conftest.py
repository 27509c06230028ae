import os

import pytest

from tests.databases import database, database_url, redis_url, sqlite_template, sqlite_url
from tests.postgres import postgres_server, postgres_template, postgres_url

__all__ = [
    "database",
    "database_url",
    "postgres_server",
    "postgres_template",
    "postgres_url",
    "redis_url",
    "sqlite_template",
    "sqlite_url",
]


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Half as many again as there are CPUs: tests of the whole house wait for processes most of their time."""
    return (os.cpu_count() or 1) * 3 // 2
