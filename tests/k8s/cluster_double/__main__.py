"""The double as a process of its own: `python -m tests.k8s.cluster_double FOLDER`.

Prints the path of an administrator's kubeconfig once it answers, and stays until its standard input ends.
"""

import asyncio
import sys
from pathlib import Path

from tests.k8s.cluster_double.server import small_cluster


async def main(folder: Path) -> None:
    async with small_cluster(folder) as cluster:
        print(cluster.kubeconfig, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.k8s.cluster_double FOLDER")
    asyncio.run(main(Path(sys.argv[1])))
