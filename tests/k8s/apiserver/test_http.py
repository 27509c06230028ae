"""The HTTP surface by a plain client: what it refuses, and what watches say."""

import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.k8s.cluster_double.server import SmallCluster, small_cluster

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[SmallCluster]:
    async with small_cluster(tmp_path) as made:
        yield made


@contextlib.asynccontextmanager
async def client(cluster: SmallCluster, token: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
    trust = ssl.create_default_context(cafile=str(cluster.folder / "ca.crt"))
    headers = {"Authorization": f"Bearer {token or cluster.token}"}
    async with httpx.AsyncClient(base_url=f"https://127.0.0.1:{cluster.port}", headers=headers, verify=trust) as made:
        yield made


def config(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}, "data": {"a": "b"}}


async def test_refusals_have_the_codes_and_reasons_of_kubernetes(cluster: SmallCluster) -> None:
    async with client(cluster, "wrong") as stranger:
        assert (await stranger.get(MAPS)).status_code == 401
    cluster.make("ServiceAccount", "default", {"metadata": {"name": "nobody"}})
    async with client(cluster, cluster.token_for("default", "nobody")) as nobody:
        refused = await nobody.get(MAPS)
        assert (refused.status_code, refused.json()["reason"]) == (403, "Forbidden")
        assert 'cannot list resource "configmaps"' in refused.json()["message"]
    async with client(cluster) as admin:
        assert (await admin.get(f"{MAPS}/x")).json()["reason"] == "NotFound"
        made = (await admin.post(MAPS, json=config("x"))).json()
        assert (await admin.post(MAPS, json=config("x"))).json()["reason"] == "AlreadyExists"
        assert (await admin.post("/api/v1/namespaces/nowhere/configmaps", json=config("x"))).status_code == 404
        await admin.put(f"{MAPS}/x", json=config("x", a="1"))
        stale = await admin.put(f"{MAPS}/x", json=made)
        assert (stale.status_code, stale.json()["reason"]) == (409, "Conflict")
        other = {"preconditions": {"uid": "another"}}
        assert (await admin.request("DELETE", f"{MAPS}/x", json=other)).status_code == 409
        assert (await admin.get(f"{MAPS}?resourceVersion=999999")).status_code == 504
        assert (await admin.get(f"{MAPS}?watch=true&resourceVersion=1")).status_code == 410
        assert (await admin.post(MAPS, json={"metadata": {"generateName": "g-"}})).json()["metadata"]["name"] > "g-"


async def test_lists_come_in_chunks_at_one_version(cluster: SmallCluster) -> None:
    async with client(cluster) as admin:
        for number in range(5):
            await admin.post(MAPS, json=config(f"c{number}"))
        first = (await admin.get(MAPS, params={"limit": "2"})).json()
        names = [item["metadata"]["name"] for item in first["items"]]
        more = first
        while token := more["metadata"].get("continue"):
            more = (await admin.get(MAPS, params={"limit": "2", "continue": token})).json()
            names += [item["metadata"]["name"] for item in more["items"]]
            assert more["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
        assert names == ["c0", "c1", "c2", "c3", "c4"]


async def test_a_watch_tells_of_changes_for_its_selector_and_ends_with_a_bookmark(cluster: SmallCluster) -> None:
    async with client(cluster) as admin:
        version = (await admin.get(MAPS)).json()["metadata"]["resourceVersion"]
        await admin.post(MAPS, json=config("mine", team="a"))
        await admin.post(MAPS, json=config("other", team="b"))
        await admin.put(f"{MAPS}/mine", json=config("mine", team="b"))
        await admin.put(f"{MAPS}/other", json=config("other", team="a"))
        await admin.delete(f"{MAPS}/other")
        query = {"watch": "true", "labelSelector": "team=a", "resourceVersion": version, "timeoutSeconds": "1"}
        text = (await admin.get(MAPS, params={**query, "allowWatchBookmarks": "true"})).text
    events = [json.loads(line) for line in text.splitlines()]
    told = [(event["type"], event["object"]["metadata"].get("name")) for event in events]
    assert told == [
        ("ADDED", "mine"),
        ("DELETED", "mine"),
        ("ADDED", "other"),
        ("DELETED", "other"),
        ("BOOKMARK", None),
    ]
    assert int(events[-1]["object"]["metadata"]["resourceVersion"]) >= int(version) + 5


async def test_unknown_fields_are_refused_only_when_asked_to(cluster: SmallCluster) -> None:
    async with client(cluster) as admin:
        odd = {**config("x"), "dta": {}}
        assert (await admin.post(f"{MAPS}?fieldValidation=Strict", json=odd)).status_code == 400
        assert (await admin.post(MAPS, json=odd)).status_code == 201
