"""The servers that every rule is held against: our double and a real API server, or the cluster that is named."""

import contextlib
import os
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.k8s.apiserver.clients import Client, connect, connect_by, make_namespace, path
from tests.k8s.apiserver.original import need_original, original
from tests.k8s.cluster_double.server import small_cluster
from tests.k8s.namespaces import fresh

KUBECONFIG = os.environ.get("GREENLOOP_TEST_KUBECONFIG", "")
SERVERS = ("cluster",) if KUBECONFIG else ("double", "original")
MINOR = "36"
"""Of the version whose words the table has."""


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=SERVERS)
async def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    """An administrator's client of our double, and of a real API server where one is found."""
    folder = tmp_path_factory.mktemp("apiserver")
    if request.param == "cluster":
        async with contextlib.aclosing(_whole(folder)) as clients:
            async for client in clients:
                yield client
        return
    if request.param == "original":
        need_original()
        async with original(folder) as client:
            yield client
        return
    async with small_cluster(folder) as cluster:
        client = connect(f"https://127.0.0.1:{cluster.port}", folder / "ca.crt", cluster.token)
        yield client
        await client.aclose()


async def _whole(folder: Path) -> AsyncGenerator[Client, None]:
    client = connect_by(Path(KUBECONFIG).expanduser(), folder)
    try:
        version = (await client.get("/version")).json()
        if version["minor"].rstrip("+") != MINOR:
            pytest.skip(f"the table has the words of 1.{MINOR}, this cluster is {version['gitVersion']}")
        yield client
    finally:
        await client.aclose()


@pytest_asyncio.fixture(loop_scope="module")
async def namespace(api: Client) -> AsyncIterator[str]:
    """A fresh one that enforces Pod Security "restricted"."""
    name = fresh()
    await make_namespace(api, name, enforce="restricted")
    yield name
    await api.delete(path("Namespace", "", name))
