"""What ties the boxes to the release that makes them: a ConfigMap of the release's in their namespace, which owns them.

With it they go, whoever deletes it, also where the service is down or away already.
"""

import asyncio
import time
from typing import Any

import structlog

from k8s.cluster import Cluster, ClusterUnreachable
from k8s.identity import selector

Object = dict[str, Any]

log = structlog.get_logger()

KIND = "ConfigMap"
POLL_SECONDS = 0.5


async def owners(cluster: Cluster, owner: str) -> list[Object]:
    """The `ownerReferences` of what is made for a box; none without an owner. Raises ClusterUnreachable without it."""
    if not owner:
        return []
    found = await cluster.get(KIND, owner)
    if found is None or found["metadata"].get("deletionTimestamp"):
        raise ClusterUnreachable(f"no boxes are made while the release is being removed: its {KIND} {owner} is gone")
    return [{"apiVersion": "v1", "kind": KIND, "name": owner, "uid": found["metadata"]["uid"]}]


async def remove_boxes(cluster: Cluster, instance: str, owner: str, *, homes: bool, seconds: float) -> list[str]:
    """Remove every box of the instance, with `homes` those too, and the owner first, so that no new one can be made.

    Returns the pods that are still there after `seconds`; empty when all are gone. Safe to run again. Raises
    ClusterError and ClusterUnreachable.
    """
    if owner:
        await cluster.delete(KIND, owner)
    until = time.monotonic() + seconds
    kinds = ("Pod", "Secret", *(("PersistentVolumeClaim",) if homes else ()))
    told: set[str] = set()
    while True:
        pods: list[Object] = []
        for kind in kinds:
            found, _ = await cluster.list(kind, selector(instance))
            pods += found if kind == "Pod" else []
            for item in found:
                if not item["metadata"].get("deletionTimestamp"):
                    await cluster.delete(kind, item["metadata"]["name"])
        names = sorted(pod["metadata"]["name"] for pod in pods)
        for name in set(names) - told:
            log.info("box.removed", box=name)
        told |= set(names)
        if not names or time.monotonic() > until:
            return names
        await asyncio.sleep(POLL_SECONDS)
