"""The runner: how long a turn waits for its agent, also in a pod that is up, and how fast output gets to the service.

Against the same service double in the same run: a bare client that posts the same bytes in the same requests.
"""

import asyncio
import http.client
import json
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from k8s.cluster import Cluster
from k8s.kubernetes_boxes import KubernetesBoxes
from k8s.options import PodOptions
from k8s.runner import protocol
from tests.k8s.cluster.conftest import settled
from tests.k8s.cluster_double.server import small_cluster
from tests.k8s.objects import IMAGE, spec
from tests.k8s.runner.conftest import Box
from tests.k8s.runner.double import BOX, BOX_TOKEN, Service, running

STARTS = 12
START_AIM = 0.150  # seconds from the turn handed out to its agent running, without the fetch
WARM_AIM = 1.0  # the same in a pod of two containers that was up and had no turn yet, with its first fetch
OUTPUT = 100_000_000
OUTPUT_AIM = 0.5  # of what the bare client reaches


def _starts(box: Box, count: int = STARTS) -> tuple[float, list[float]]:
    """Seconds from hand-out to the agent's first act: (with a fetch, without)."""
    sha = box.commit({f"folder{number // 10}/file{number}": "x" * 200 for number in range(100)})
    took = []
    for _ in range(count):
        told = box.give("date +%s.%N", sha)
        box.service.result(told)
        handed_out = time.time() - (time.monotonic() - told.handed_out[0])
        took.append(float(told.output) - handed_out)
        box.idle(told)
    return took[0], took[1:]


async def _warm_pod(folder: Path, service: Service) -> float:
    """Seconds from hand-out to the agent's first act in a warm box of two containers."""
    async with small_cluster(folder / "cluster") as cluster:
        cluster.make_namespace("boxes", enforce="restricted")
        client = await Cluster.connect("boxes", kubeconfig=cluster.kubeconfig)
        boxes = KubernetesBoxes(client, "greenloop", PodOptions(image=IMAGE, grace_seconds=2))
        try:
            await boxes.ensure(replace(spec(BOX, token=BOX_TOKEN), service_url=service.url))
            await settled(boxes, BOX, 60)
            return (await asyncio.to_thread(_starts, Box(folder, service), 1))[0]
        finally:
            await boxes.close()


def _shipped(box: Box) -> float:
    """Seconds from an agent's start to the end of 100 MB of its output, all of it kept."""
    line = "y" * 199
    told = box.give(f"yes {line} | head -c {OUTPUT}", None, limits={"output_bytes": 2 * OUTPUT})
    box.service.result(told, 120)
    if len(told.output) != OUTPUT:
        raise AssertionError(f"{len(told.output)} bytes arrived of {OUTPUT}")
    return told.heard[-1] - told.handed_out[0]


def _bare(box: Box) -> float:
    """Seconds for the same bytes from a client that does nothing else."""
    told = box.give("", None)
    chunk = (b"y" * 199 + b"\n") * (protocol.OUTPUT_CHUNK // 200)
    data = protocol.encode(chunk)
    connection = http.client.HTTPConnection("127.0.0.1", box.service.port)
    headers = {"Authorization": f"Bearer {BOX_TOKEN}"}
    began = time.monotonic()
    for offset in range(0, OUTPUT, len(chunk)):
        body = json.dumps(protocol.to_json(protocol.Output(offset, data)))
        connection.request("POST", f"/turns/{told.turn['turn']}/output", body, headers)
        connection.getresponse().read()
    connection.close()
    told.gone = True
    return time.monotonic() - began


def main() -> int:
    """Print the figures; 1 when an aim is missed."""
    with tempfile.TemporaryDirectory() as folder, Service(Path(folder) / "repositories") as service:
        box = Box(Path(folder), service)
        bare = _bare(box)
        with running(box.start()):
            first, others = _starts(box)
            shipped = _shipped(box)
    with tempfile.TemporaryDirectory() as folder, Service(Path(folder) / "repositories") as service:
        warm = asyncio.run(_warm_pod(Path(folder), service))
    start, ratio = statistics.median(others), bare / shipped
    print(f"runner: agent started {start * 1000:.0f} ms after the hand-out (aim {START_AIM * 1000:.0f})")
    print(f"        {first * 1000:.0f} ms with the first fetch of 100 files")
    print(f"        {warm * 1000:.0f} ms in a warm pod, with its first fetch (aim {WARM_AIM * 1000:.0f})")
    print(f"        100 MB of output in {shipped:.1f} s, {OUTPUT / shipped / 1e6:.0f} MB/s")
    print(f"        {ratio:.2f} of a bare client (aim {OUTPUT_AIM})")
    return int(start > START_AIM or warm > WARM_AIM or ratio < OUTPUT_AIM)
