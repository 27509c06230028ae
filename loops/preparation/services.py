"""Services of a job: which of them a box can have, by the name of their image."""

from typing import Any

from github.workflows.expressions import as_text
from loops.preparation.plan import Bring, Lack, Missing, Need

KNOWN = {
    "postgres": "postgresql", "postgis": "postgresql", "pgvector": "postgresql", "timescaledb": "postgresql",
    "mysql": "mysql", "mysql-server": "mysql", "mariadb": "mysql", "percona": "mysql",
    "redis": "redis", "redis-stack": "redis", "redis-stack-server": "redis", "valkey": "redis", "keydb": "redis",
    "memcached": "memcached", "rabbitmq": "rabbitmq", "mongo": "mongodb", "mongodb": "mongodb",
    "elasticsearch": "elasticsearch", "opensearch": "opensearch", "nats": "nats", "minio": "minio",
    "dynamodb-local": "dynamodb", "dragonfly": "redis", "mssql/server": "sqlserver",
}  # fmt: skip
"""The last part of an image's name, or the last two, without its tag -> the service."""


def services(declared: Any) -> tuple[list[Need], list[Missing]]:
    """What an evaluated `services:` asks for; one without an image is none, as on GitHub."""
    needs, missing = [], []
    for name, about in declared.items() if isinstance(declared, dict) else ():
        image = as_text(about.get("image") if isinstance(about, dict) else about)
        path, _, tag = image.partition("@")[0].rpartition(":") if ":" in image.rsplit("/", 1)[-1] else (image, "", "")
        parts = path.lower().split("/")
        service = KNOWN.get(parts[-1]) or KNOWN.get("/".join(parts[-2:]))
        if service is not None:
            needs.append(Need(Bring.SERVICE, service, version=tag, detail=str(name)))
        elif image:
            missing.append(Missing(Lack.SERVICE, image))
    return needs, missing
