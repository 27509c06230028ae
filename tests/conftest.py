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
