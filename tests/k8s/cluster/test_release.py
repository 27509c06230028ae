"""Boxes end with the release that made them, homes only if they are to."""

import asyncio
from typing import Any

import pytest

from k8s.boxes import BoxesUnavailable, BoxState
from k8s.cluster import Cluster
from k8s.kubernetes_boxes import KubernetesBoxes
from k8s.release import KIND, remove_boxes
from tests.k8s.cluster.conftest import Place, settled

pytestmark = pytest.mark.cluster

OWNER = "release"


async def open_boxes(place: Place, **home: Any) -> KubernetesBoxes:
    """Boxes that a ConfigMap of a release owns."""
    client = await place.client()
    await client.create({"apiVersion": "v1", "kind": KIND, "metadata": {"name": OWNER}})
    options = place.options(home={"size": "1Gi", **home})
    made = KubernetesBoxes(client, "greenloop", options, OWNER, backoff=(0.05, 0.5))
    place.stack.push_async_callback(made.close)
    return made


async def names(client: Cluster) -> dict[str, list[str]]:
    """What is there of boxes, by kind."""
    found = {kind: (await client.list(kind, "greenloop/instance=greenloop"))[0] for kind in ("Pod", "Secret")}
    found["home"], _ = await client.list("PersistentVolumeClaim", "greenloop/instance=greenloop")
    return {kind: [item["metadata"]["name"] for item in items] for kind, items in found.items()}


async def until(client: Cluster, wanted: dict[str, list[str]], seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while await names(client) != wanted:
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("keep", [True, False])
async def test_with_the_object_that_owns_them_boxes_go_and_homes_stay_unless_they_are_not_to(
    place: Place, keep: bool
) -> None:
    boxes, client = await open_boxes(place, keep=keep), await place.client()
    place.stack.push_async_callback(client.close)
    await boxes.ensure(place.spec())
    assert (await settled(boxes, place.spec().name, place.patience)).state is BoxState.RUNNING
    await client.delete(KIND, OWNER)
    homes = [f"{place.spec().name}-home"] if keep else []
    await until(client, {"Pod": [], "Secret": [], "home": homes}, place.patience)


@pytest.mark.parametrize("homes", [True, False])
async def test_the_removal_ends_all_boxes_and_no_more_are_made(place: Place, homes: bool) -> None:
    boxes, client = await open_boxes(place), await place.client()
    place.stack.push_async_callback(client.close)
    for name in ("gl-greenloop-7-1", "gl-greenloop-7-2"):
        await boxes.ensure(place.spec(name))
    assert await remove_boxes(client, "greenloop", OWNER, homes=homes, seconds=place.patience) == []
    left = [] if homes else ["gl-greenloop-7-1-home", "gl-greenloop-7-2-home"]
    await until(client, {"Pod": [], "Secret": [], "home": left}, place.patience)
    with pytest.raises(BoxesUnavailable, match="while the release is being removed"):
        await boxes.ensure(place.spec())
    assert await remove_boxes(client, "greenloop", OWNER, homes=homes, seconds=place.patience) == [], "twice is fine"


async def test_the_boxes_of_another_instance_are_left_alone(place: Place) -> None:
    others, client = await place.boxes("other"), await place.client()
    place.stack.push_async_callback(client.close)
    await others.ensure(place.spec("gl-other-7-1"))
    assert await remove_boxes(client, "greenloop", OWNER, homes=True, seconds=place.patience) == []
    assert [status.name for status in await others.list()] == ["gl-other-7-1"]


async def test_a_removal_that_was_cut_short_is_finished_by_the_next(place: Place) -> None:
    boxes, client = await open_boxes(place), await place.client()
    place.stack.push_async_callback(client.close)
    await boxes.ensure(place.spec())
    assert (await settled(boxes, place.spec().name, place.patience)).state is BoxState.RUNNING
    assert await remove_boxes(client, "greenloop", OWNER, homes=True, seconds=0) == [place.spec().name]
    with pytest.raises(BoxesUnavailable, match="while the release is being removed"):
        await boxes.ensure(place.spec("gl-greenloop-7-3"))
    assert await remove_boxes(client, "greenloop", OWNER, homes=True, seconds=place.patience) == []
    await until(client, {"Pod": [], "Secret": [], "home": []}, place.patience)


async def test_a_removal_in_a_namespace_that_is_going_or_gone_is_done(place: Place) -> None:
    boxes, client = await open_boxes(place), await place.client()
    place.stack.push_async_callback(client.close)
    await boxes.ensure(place.spec())
    async with place.core() as core:
        await core.delete_namespace(place.namespace)
    assert await remove_boxes(client, "greenloop", OWNER, homes=False, seconds=place.patience) == []
    await until(client, {"Pod": [], "Secret": [], "home": []}, place.patience)
    assert await remove_boxes(client, "greenloop", OWNER, homes=False, seconds=0) == []
