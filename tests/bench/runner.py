"""The runner: how long a turn waits for its agent, and how fast output gets to the service.

Against the same service double in the same run: a bare client that posts the same bytes in the same requests.
"""

import http.client
import json
import statistics
import tempfile
import time
from pathlib import Path

from k8s.runner import protocol
from tests.k8s.runner.conftest import Box
from tests.k8s.runner.double import BOX_TOKEN, Service, running

STARTS = 12
START_AIM = 0.150  # seconds from the turn handed out to its agent running, without the fetch
OUTPUT = 100_000_000
OUTPUT_AIM = 0.5  # of what the bare client reaches


def _starts(box: Box) -> tuple[float, list[float]]:
    """Seconds from hand-out to the agent's first act: (with a fetch, without)."""
    sha = box.commit({f"folder{number // 10}/file{number}": "x" * 200 for number in range(100)})
    took = []
    for _ in range(STARTS):
        told = box.give("date +%s.%N", sha)
        box.service.result(told)
        handed_out = time.time() - (time.monotonic() - told.handed_out[0])
        took.append(float(told.output) - handed_out)
        box.idle(told)
    return took[0], took[1:]


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
    start, ratio = statistics.median(others), bare / shipped
    print(f"runner: agent started {start * 1000:.0f} ms after the hand-out (aim {START_AIM * 1000:.0f})")
    print(f"        {first * 1000:.0f} ms with the first fetch of 100 files")
    print(f"        100 MB of output in {shipped:.1f} s, {OUTPUT / shipped / 1e6:.0f} MB/s")
    print(f"        {ratio:.2f} of a bare client (aim {OUTPUT_AIM})")
    return int(start > START_AIM or ratio < OUTPUT_AIM)
