"""The two servers that every rule is held against."""

import uuid
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.k8s.apiserver.clients import Client, connect, make_namespace
from tests.k8s.apiserver.original import need_original, original
from tests.k8s.cluster_double.server import small_cluster

SERVERS = ("double", "original")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=SERVERS)
async def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    """An administrator's client of our double, and of a real API server where one is found."""
    folder = tmp_path_factory.mktemp("apiserver")
    if request.param == "original":
        need_original()
        async with original(folder) as client:
            yield client
        return
    async with small_cluster(folder) as cluster:
        client = connect(f"https://127.0.0.1:{cluster.port}", folder / "ca.crt", cluster.token)
        yield client
        await client.aclose()


@pytest_asyncio.fixture(loop_scope="module")
async def namespace(api: Client) -> str:
    """A fresh one that enforces Pod Security "restricted"."""
    name = f"n-{uuid.uuid4().hex[:8]}"
    await make_namespace(api, name, enforce="restricted")
    return name
