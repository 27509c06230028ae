"""What following 500 boxes costs a worker, on our own cluster: requests to the API server, and memory.

They are followed by one list and one watch. Asked of all of them are nothing but what the watch knows; a history that
the server has lost is mended by a fresh list. The baseline asks for each box by itself, as without a watch one would.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import structlog

from k8s.boxes import BoxState
from k8s.cluster import Cluster, ClusterUnreachable
from k8s.kubernetes_boxes import KubernetesBoxes
from k8s.options import PodOptions
from k8s.pod import box_pod
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.server import SmallCluster, small_cluster
from tests.k8s.objects import IMAGE, container, spec

BOXES = 500
NAMESPACE = "boxes"
KILOBYTES_A_BOX = 40
"""Most memory that one more box may take of a worker; a pod of a real cluster is about 10 kB of JSON."""
LISTS = 2
"""Lists after an outage: one, and another where the connection of the watch behind it was lost again."""
MANAGED = {"manager": "x" * 40, "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:spec": "x" * 4000}}
PAGE = os.sysconf("SC_PAGE_SIZE")


class Counted(Cluster):
    """Notes each request that reaches the server by its method."""

    asked: list[str]

    async def _request(self, method: str, path: str, **about: Any) -> Any:
        what = "watch" if "watch" in (about.get("query") or {}) else method
        self.asked.append(what)
        try:
            return await super()._request(method, path, **about)
        except ClusterUnreachable:
            self.asked.remove(what)
            raise


def main() -> int:
    """Print the table; 1 where an aim is missed."""
    with tempfile.TemporaryDirectory() as folder:
        told = asyncio.run(_measured(Path(folder)))
    rows = [
        ("beginning to follow them", told["first"]),
        (f"asking for all {BOXES}", told["asked"]),
        ("after the server lost its history", told["again"]),
        (f"baseline: asking for all {BOXES} without a watch", told["baseline"]),
    ]
    for what, requests in rows:
        print(f"{what:<50} {', '.join(f'{requests.count(kind)} {kind}' for kind in sorted(set(requests))) or 'none'}")
    print(f"{'memory of each box in the worker':<50} {told['kilobytes']:.1f} kB (aim: {KILOBYTES_A_BOX})")
    good = sorted(told["first"]) == ["GET", "watch"] and told["asked"] == [] and told["again"].count("GET") <= LISTS
    return 0 if good and told["kilobytes"] <= KILOBYTES_A_BOX else 1


async def _measured(folder: Path) -> dict[str, Any]:
    async with small_cluster(folder) as cluster:
        cluster.make_namespace(NAMESPACE)
        for number in range(BOXES):
            _make(cluster, f"gl-bench-{number:03}")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.bench.boxes", str(cluster.kubeconfig),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        found: dict[str, Any] = json.loads(await process.stdout.readline())
        await cluster.stop_api()
        cluster.store.compact()
        _make(cluster, "gl-bench-last")
        await cluster.start_api()
        rest, _ = await process.communicate(b"on\n")
        found |= json.loads(rest)
        return found


def _make(cluster: SmallCluster, name: str) -> None:
    """A box that runs, as far as the API shows, with as much about it as a real server adds."""
    pod = box_pod("greenloop", spec(name), PodOptions(image=IMAGE, node_selector={"none": "such"}))
    pod["metadata"]["annotations"]["example.com/managed"] = json.dumps(MANAGED)
    cluster.make("Pod", NAMESPACE, pod)
    running = container(running={"startedAt": "2026-11-29T10:01:00Z"})
    status = {"phase": "Running", "containerStatuses": [running]}
    cluster.api.set_status(BY_KIND["Pod"], NAMESPACE, name, status)


async def _follow(kubeconfig: Path) -> None:
    connected = await Counted.connect(NAMESPACE, kubeconfig=kubeconfig)
    connected.asked = []
    await connected.get("Pod", "none")  # connections and modules are there before memory is looked at
    connected.asked.clear()
    before = _resident()
    boxes = KubernetesBoxes(connected, "greenloop", PodOptions(image=IMAGE), backoff=(0.05, 0.2))
    names = [f"gl-bench-{number:03}" for number in range(BOXES)]
    await _until(boxes, names[-1])
    first, kilobytes = _taken(connected), (_resident() - before) / 1024 / BOXES
    states = {(await boxes.status(name)).state for name in names}
    assert states == {BoxState.RUNNING}, states
    asked = _taken(connected)
    for name in names:
        await boxes.fresh(name)
    print(json.dumps({"first": first, "asked": asked, "baseline": _taken(connected), "kilobytes": kilobytes}))
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    await _until(boxes, "gl-bench-last")
    print(json.dumps({"again": [each for each in _taken(connected) if each != "watch"]}))
    await boxes.close()


async def _until(boxes: KubernetesBoxes, name: str) -> None:
    async with asyncio.timeout(120):
        while name not in boxes._watch.objects:
            await asyncio.sleep(0.01)


def _taken(cluster: Counted) -> list[str]:
    found = list(cluster.asked)
    cluster.asked.clear()
    return found


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))  # stdout is for the figures
    asyncio.run(_follow(Path(sys.argv[1])))
