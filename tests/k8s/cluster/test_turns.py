"""Real turns of the real runner in pods of our own cluster, whose API server, node and pod go away in the middle."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from k8s import kubernetes_boxes
from k8s.boxes import BoxesUnavailable, BoxSpec, BoxState
from k8s.cluster import Cluster
from k8s.kubernetes_boxes import KubernetesBoxes
from k8s.options import PodOptions
from k8s.rights import missing_rights, rules
from k8s.runner.processes import process_tree
from tests.k8s.cluster.conftest import settled
from tests.k8s.cluster_double.server import SmallCluster, small_cluster
from tests.k8s.objects import IMAGE, spec
from tests.k8s.runner.conftest import Box as Work
from tests.k8s.runner.conftest import alive, remains
from tests.k8s.runner.double import BOX, BOX_TOKEN, Service, Told
from tests.tools import need

COUNT = 40
COUNTING = f"for i in $(seq {COUNT}); do echo line $i; sleep 0.05; done; echo done > made.txt"
EXPECTED = "".join(f"line {number}\n" for number in range(1, COUNT + 1)).encode()


class Scene:
    """A small cluster, boxes in it, a service double, and a repository to work on."""

    def __init__(self, cluster: SmallCluster, boxes: KubernetesBoxes, work: Work) -> None:
        self.cluster = cluster
        self.boxes = boxes
        self.work = work
        self.spec: BoxSpec = replace(spec(BOX, token=BOX_TOKEN), service_url=work.service.url)

    async def counting(self, script: str = COUNTING) -> Told:
        """A turn that has begun to write its lines."""
        sha = await asyncio.to_thread(self.work.commit, {"a.txt": "a\n"})
        told = self.work.give(script, sha)
        await self.boxes.ensure(self.spec)
        await self.until(lambda: len(told.output) > 30)
        return told

    async def until(self, condition: Callable[[], object], seconds: float = 60) -> None:
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(0.01)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    need("git")
    with Service(tmp_path / "repositories") as service:
        async with small_cluster(tmp_path / "cluster") as cluster:
            cluster.make_namespace("boxes", enforce="restricted")
            connected = await Cluster.connect("boxes", kubeconfig=_worker(cluster))
            assert await missing_rights(connected) == []
            options = PodOptions.model_validate({"image": IMAGE, "graceSeconds": 10})
            boxes = KubernetesBoxes(connected, "greenloop", options, backoff=(0.05, 0.2))
            try:
                yield Scene(cluster, boxes, Work(tmp_path, service))
            finally:
                await boxes.close()


def called(command: str) -> list[int]:
    """Processes with this command line."""
    found = []
    for pid in process_tree.table():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/cmdline").read_text(errors="replace") == command:
                found.append(pid)
    return found


def _worker(cluster: SmallCluster) -> Path:
    """A kubeconfig of an account with the rights of the chart's worker and no others."""
    role = {"metadata": {"name": "worker"}, "rules": rules()}
    binding = {
        "metadata": {"name": "worker"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "worker"},
        "subjects": [{"kind": "ServiceAccount", "name": "worker", "namespace": "boxes"}],
    }
    for kind, body in (("Role", role), ("RoleBinding", binding)):
        cluster.make(kind, "boxes", body)
    token = cluster.token_for("boxes", "worker")
    return cluster.write_kubeconfig(cluster.folder / "worker", token, "boxes")


async def test_a_turn_runs_in_a_pod_and_its_work_comes_back(scene: Scene) -> None:
    told = await scene.counting()
    result = await asyncio.to_thread(scene.work.service.result, told)
    assert (result.reason, result.exit_code) == ("exited", 0)
    assert bytes(told.output) == EXPECTED
    assert [change.path for change in result.changes] == ["made.txt"]


async def test_the_api_server_may_restart_in_the_middle_of_a_turn_and_no_line_is_lost_or_doubled(scene: Scene) -> None:
    told = await scene.counting()
    await scene.cluster.stop_api()
    before = len(told.output)
    with pytest.raises(BoxesUnavailable):
        await scene.boxes.fresh(BOX)
    with pytest.raises(BoxesUnavailable):
        await scene.boxes.ensure(scene.spec)
    await scene.until(lambda: len(told.output) > before + 30)
    await scene.cluster.start_api()
    assert (await scene.boxes.ensure(scene.spec)).state is BoxState.RUNNING
    result = await asyncio.to_thread(scene.work.service.result, told)
    assert result.exit_code == 0
    assert bytes(told.output) == EXPECTED
    assert len(told.handed_out) == 1
    status = await settled(scene.boxes, BOX, 5)
    assert status.state is BoxState.RUNNING


async def test_an_outage_says_nothing_about_a_box(scene: Scene) -> None:
    await scene.counting()
    await settled(scene.boxes, BOX, 5)
    await scene.cluster.stop_api()
    seen = []
    for _ in range(20):
        await asyncio.sleep(0.05)
        try:
            seen.append((await scene.boxes.status(BOX)).state)
        except BoxesUnavailable:
            seen.append(BoxState.UNKNOWN)
    assert set(seen) <= {BoxState.RUNNING, BoxState.UNKNOWN}
    assert seen[-1] is BoxState.UNKNOWN


async def test_stopping_a_box_ends_every_process_of_its_turn(scene: Scene) -> None:
    script = "env -i setsid sleep 300.25 & echo and so on, and on, and on, and on; sleep 300"
    told = await scene.counting(script)
    # its id in the container is not its id here
    await scene.until(lambda: called("sleep\x00300.25\x00"))
    [hidden] = called("sleep\x00300.25\x00")
    await scene.boxes.stop(BOX)
    await scene.until(lambda: scene.cluster.find("Pod", "boxes", BOX) is None)
    assert not remains(told.turn["marker"])
    assert not alive(hidden)


async def test_a_lost_node_is_told_as_such_and_the_box_comes_back_elsewhere_with_its_home(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scene.counting("echo kept > $HOME/.cache/pip/kept; for i in $(seq 300); do echo line $i; sleep 0.1; done")
    scene.cluster.kubelet.add_node("node-2")
    await scene.cluster.kubelet.lose_node("node-1")
    lost = await scene.boxes.fresh(BOX)
    assert lost.state is BoxState.LOST
    assert "node" in lost.message

    # The dead node never confirms the deletion: long after it was due, the object is removed by force.
    monkeypatch.setattr(kubernetes_boxes, "REPLACE_SECONDS", 0.5)
    assert (await scene.boxes.ensure(scene.spec)).state is BoxState.LOST
    monkeypatch.setattr(kubernetes_boxes, "OVERDUE_SECONDS", -60.0)
    assert (await scene.boxes.ensure(scene.spec)).usable
    assert (await settled(scene.boxes, BOX, 10)).state is BoxState.RUNNING
    pod = scene.cluster.find("Pod", "boxes", BOX)
    assert pod is not None
    assert pod["spec"]["nodeName"] == "node-2"
    assert list((scene.cluster.folder / "claims").glob("*/agent/caches/pip/kept"))


async def test_an_evicted_box_says_so_and_a_fresh_one_takes_its_place(scene: Scene) -> None:
    await scene.counting()
    scene.cluster.kubelet.evict("boxes", BOX, "The node was low on resource: memory.")
    await scene.until(lambda: (scene.cluster.find("Pod", "boxes", BOX) or {})["status"]["phase"] == "Failed")
    evicted = await scene.boxes.fresh(BOX)
    assert evicted.state is BoxState.EVICTED
    assert "low on resource" in evicted.message
    assert (await scene.boxes.ensure(scene.spec)).usable


async def test_an_image_that_cannot_be_pulled_yet_is_tried_again(scene: Scene) -> None:
    machine = scene.cluster.kubelet.machine
    machine.images = set()
    await scene.boxes.ensure(scene.spec)
    await scene.until(lambda: "waiting" in str(scene.cluster.find("Pod", "boxes", BOX)))
    waiting = await scene.boxes.fresh(BOX)
    assert waiting.state is BoxState.IMAGE_ERROR
    assert waiting.may_come
    machine.images = {IMAGE}
    assert (await settled(scene.boxes, BOX, 10)).state is BoxState.RUNNING


async def test_a_slow_start_is_no_failure(scene: Scene) -> None:
    scene.cluster.kubelet.machine.start_delay = 0.5
    await scene.boxes.ensure(scene.spec)
    assert (await scene.boxes.fresh(BOX)).state is BoxState.STARTING
    assert (await settled(scene.boxes, BOX, 10)).state is BoxState.RUNNING


async def test_a_lost_history_is_mended_by_a_fresh_list(scene: Scene) -> None:
    await scene.boxes.ensure(scene.spec)
    await settled(scene.boxes, BOX, 10)
    await scene.cluster.stop_api()
    scene.cluster.store.compact()
    await scene.cluster.start_api()
    await scene.boxes.ensure(replace(scene.spec, name="gl-another"))
    assert (await settled(scene.boxes, "gl-another", 10)).state is BoxState.RUNNING
