"""The namespaces that tests make on a cluster, and an end to those that a run left behind.

`python -m tests.k8s.namespaces KUBECONFIG` removes those of the run that GREENLOOP_TEST_RUN names, and of no other.
"""

import asyncio
import os
import sys
import tempfile
import uuid
from pathlib import Path

from tests.k8s.apiserver.clients import Client, connect_by, path

RUN = os.environ.get("GREENLOOP_TEST_RUN", "")
SECONDS = 180.0


def fresh() -> str:
    """A name that nobody has."""
    return f"{_prefix()}{uuid.uuid4().hex[:8]}"


def _prefix() -> str:
    return f"greenloop-test-{RUN}{'-' if RUN else ''}"


async def remove_left(client: Client, seconds: float) -> list[str]:
    """Delete the run's namespaces; the names of those that are still there after so long."""
    if not RUN:
        raise ValueError("GREENLOOP_TEST_RUN names no run: its namespaces cannot be told from those of others")
    until = asyncio.get_running_loop().time() + seconds
    while True:
        items = (await client.get(path("Namespace", ""))).raise_for_status().json()["items"]
        ours = [item["metadata"] for item in items if item["metadata"]["name"].startswith(_prefix())]
        for each in ours:
            if "deletionTimestamp" not in each:
                await client.delete(path("Namespace", "", each["name"]))
        if not ours or asyncio.get_running_loop().time() > until:
            return [str(each["name"]) for each in ours]
        await asyncio.sleep(0.5)


async def main(kubeconfig: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        async with connect_by(kubeconfig, Path(folder)) as client:
            left = await remove_left(client, SECONDS)
    for name in left:
        print(f"still there after {SECONDS:.0f} s: namespace {name}", file=sys.stderr)
    return len(left) and 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]).expanduser())))
