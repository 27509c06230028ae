"""What happens to nodes, registries and the API server in the middle of the loop, on our own cluster."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from k8s import home_claim, kubernetes_boxes
from loops.boxes import box_failure
from loops.sessions import snapshots
from tests.e2e.cluster import HELD, RIGHT, ClusterHouse, cluster_house
from tests.k8s.cluster.conftest import KUBECONFIG
from tests.k8s.cluster_double.objects.resources import BY_KIND

NODE = BY_KIND["Node"]
COUNT = 60

pytestmark = pytest.mark.skipif(bool(KUBECONFIG), reason="a real cluster does not obey us")


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[ClusterHouse]:
    async with cluster_house(tmp_path) as opened:
        yield opened


async def test_an_evicted_box_costs_one_more_try(home: ClusterHouse) -> None:
    home.agent(HELD)
    await home.ask()
    turn = await home.runs()
    home.small.kubelet.evict(home.place.namespace, turn.box or "", "The node was low on resource: memory.")
    await home.lost()
    assert (await home.ended()).outcome == "green"
    assert any("low on resource" in text for text in await home.told())


async def test_a_lost_node_costs_one_more_try_on_another(home: ClusterHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    home.agent(HELD)
    await home.ask()
    await home.runs()
    home.small.kubelet.add_node("node-2")
    await home.small.kubelet.lose_node("node-1")
    # a node that is gone never confirms the deletion: once that is overdue, the pod is removed by force
    monkeypatch.setattr(kubernetes_boxes, "REPLACE_SECONDS", 0.5)
    await asyncio.sleep(2)
    assert [each.status for each in await home.turns()] == ["queued"]
    monkeypatch.setattr(kubernetes_boxes, "OVERDUE_SECONDS", -60.0)
    home.let_go()
    assert (await home.ended()).outcome == "green"
    assert (await home.found())[0]["spec"]["nodeName"] == "node-2"
    assert any("node was lost" in text for text in await home.told())


async def test_a_registry_that_is_away_is_waited_for_and_the_comment_says_so(home: ClusterHouse) -> None:
    home.agent(RIGHT)
    home.small.kubelet.machine.images = set()
    number = await home.ask()
    assert "cannot be pulled" in await home.waits("image", number)
    home.small.kubelet.machine.images = None
    session = await home.ended()
    assert session.outcome == "green"
    assert "⏳" not in (await home.bot_comments(number))[0]


async def test_an_image_that_was_mended_is_had_by_a_fresh_pod_and_not_after_its_nodes_long_pause(
    home: ClusterHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.agent(RIGHT)
    machine = home.small.kubelet.machine
    machine.images, machine.retry_seconds = set(), 600.0
    monkeypatch.setattr(kubernetes_boxes, "IMAGE_SECONDS", 5.0)
    monkeypatch.setattr(snapshots, "BOX_LOOK_SECONDS", 0.5)
    monkeypatch.setattr(box_failure, "LOOK_SECONDS", 0.5)
    number = await home.ask()
    await home.waits("the registry has no such image", number)
    machine.images = None
    assert (await home.ended()).outcome == "green"


@pytest.mark.parametrize(
    ("storage", "words"),
    [
        ({"storageClass": "slow"}, 'none of the storage class "slow" has come yet'),
        ({}, "the cluster has no default one"),
    ],
    ids=["a class that waits for its first consumer", "no default class"],
)
async def test_a_home_whose_volume_does_not_come_is_waited_for_and_the_comment_names_its_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, storage: dict[str, str], words: str
) -> None:
    monkeypatch.setattr(home_claim, "USUAL_SECONDS", 0.0)
    monkeypatch.setattr(snapshots, "BOX_LOOK_SECONDS", 0.5)
    monkeypatch.setattr(box_failure, "LOOK_SECONDS", 0.5)
    async with cluster_house(tmp_path, pod={"home": {"size": "1Gi", **storage}}) as home:
        home.agent(RIGHT)
        home.small.kubelet.machine.classes = {"slow": "WaitForFirstConsumer"}
        await home.waits(words, await home.ask())
        home.small.kubelet.provide()
        assert (await home.ended()).outcome == "green"


async def test_a_box_that_no_node_takes_is_waited_for_and_the_comment_says_so(home: ClusterHouse) -> None:
    home.agent(RIGHT)
    node = home.small.store.get(NODE, "", "node-1")
    home.small.store.update(NODE, node | {"spec": {"unschedulable": True}})
    number = await home.ask()
    assert "unschedulable" in await home.waits("No node takes the box", number)
    home.small.kubelet.add_node("node-2")
    assert (await home.ended()).outcome == "green"


async def test_an_api_server_that_restarts_in_the_middle_of_a_turn_loses_and_doubles_no_line(
    home: ClusterHouse,
) -> None:
    home.agent(f"for n in range({COUNT}):\n    print(f'line {{n}}', flush=True); time.sleep(0.1)\n" + RIGHT)
    await home.ask()
    await home.runs()
    await home.small.stop_api()
    await home.ask()
    await asyncio.sleep(3)
    assert {each.status for each in await home.turns()} <= {"running", "queued", "reported", "done"}
    await home.small.start_api()
    await home.ended(sessions=2)
    sessions = await home.sessions()
    assert [session.outcome for session in sessions] == ["green", "green"]
    assert [turn.lost for turn in await home.turns()] == [0, 0]
    for session in sessions:
        lines = "\n".join(await home.told(session.id)).splitlines()
        assert [line for line in lines if line.startswith("line ")] == [f"line {n}" for n in range(COUNT)]
