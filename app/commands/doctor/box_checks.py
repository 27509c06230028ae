"""The boxes: whether they can be made, with which rights, and what they can reach."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from app.commands.doctor.finding import Finding
from app.settings import Settings

if TYPE_CHECKING:
    from k8s.boxes import BoxStatus
    from k8s.cluster import Cluster
    from k8s.local import LocalBoxes

TROUBLES_SHOWN = 5


async def check_boxes(settings: Settings) -> list[Finding]:
    from app.process.wiring import open_boxes
    from k8s.boxes import BoxesUnavailable
    from k8s.local import LocalBoxes

    try:
        boxes = await open_boxes(settings)
    except ValueError as error:
        return [Finding("boxes", "fail", str(error), "See the settings of the boxes in the README.")]
    try:
        found = await boxes.list()
    except BoxesUnavailable as error:
        mend = "Check the cluster, GREENLOOP_KUBECONFIG and the rights of the service's account in the namespace."
        return [Finding("boxes", "fail", str(error), mend)]
    finally:
        await boxes.close()
    there = Finding("boxes", "ok", f"{settings.boxes}, {len(found)} there now")
    if isinstance(boxes, LocalBoxes):
        return [there, *await asyncio.to_thread(_walls, boxes)]
    from app.commands.doctor.network_checks import policies

    async with _cluster(settings) as cluster:
        rights = await _rights(settings, cluster)
        return [there, *_troubles(found), rights, await _trial(settings, cluster), await policies(settings, cluster)]


def _troubles(found: "list[BoxStatus]") -> list[Finding]:
    """What the cluster says of boxes that do not come up or have ended; not of those that stopped."""
    from k8s.boxes import BoxState

    mend = "Mend what the message names; the comment on the issue says the same."
    lame = [box for box in found if not box.usable and box.state is not BoxState.ABSENT]
    told = [Finding("box in trouble", "warn", f"{box.name}: {box.message}", mend) for box in lame[:TROUBLES_SHOWN]]
    if more := len(lame) - len(told):
        told.append(Finding("box in trouble", "warn", f"and {more} more", mend))
    return told


async def _trial(settings: Settings, cluster: "Cluster") -> Finding:
    """Whether a box would be taken now. Raises ClusterUnreachable."""
    from k8s.cluster import ClusterError
    from k8s.dry_run import refused
    from k8s.refusals import why_no_boxes

    options = settings.box_pod
    if settings.box_image:
        options = options.model_copy(update={"image": settings.box_image})
    try:
        status = await refused(cluster, settings.instance, options)
    except ClusterError as error:
        return Finding("a box on trial", "fail", why_no_boxes(error) or str(error), "Mend what the message names.")
    if status is None:
        return Finding("a box on trial", "ok", "the cluster would take one; image and volume only a real one shows")
    mend = "Mend what the message names, in the cluster's rules or under boxes in the chart's values."
    return Finding("a box on trial", "fail" if status.permanent else "warn", status.message, mend)


def _walls(boxes: "LocalBoxes") -> list[Finding]:
    from k8s.boxes import BoxesUnavailable
    from k8s.local import NO_WALLS

    try:
        kind = boxes.walls
    except BoxesUnavailable as error:
        return [
            Finding(
                "walls of boxes",
                "fail",
                str(error),
                "Set GREENLOOP_BOX_WALLS=auto, or install bubblewrap (for unshare: util-linux).",
            )
        ]
    if kind == "processes":
        mend = "Install bubblewrap and permit user namespaces, or run only the work of people who trust each other."
        return [Finding("walls of boxes", "warn", NO_WALLS, mend)]
    return [Finding("walls of boxes", "ok", kind)]


@contextlib.asynccontextmanager
async def _cluster(settings: Settings) -> "AsyncIterator[Cluster]":
    from k8s.cluster import Cluster

    kubeconfig = settings.kubeconfig.expanduser() if settings.kubeconfig else None
    cluster = await Cluster.connect(settings.box_namespace, kubeconfig=kubeconfig)
    try:
        yield cluster
    finally:
        await cluster.close()


async def check_network(settings: Settings) -> list[Finding]:
    from app.commands.doctor.reach_checks import from_a_box, from_here

    here = await from_here(settings)
    if settings.boxes == "local":
        mend = "Use boxes on Kubernetes for people whom you would not give a shell on this machine."
        return [*here, Finding("network of boxes", "warn", "local boxes reach whatever this machine does", mend)]
    async with _cluster(settings) as cluster:
        return [*here, *await from_a_box(settings, cluster)]


async def _rights(settings: Settings, cluster: "Cluster") -> Finding:
    from k8s.rights import missing_rights

    missing = await missing_rights(cluster, settings.box_owner)
    if missing:
        says = f"in {settings.box_namespace} we may not {', '.join(missing)}"
        return Finding("cluster rights", "fail", says, "Give the service's account the Role that the chart has.")
    return Finding("cluster rights", "ok", f"all that is needed in {settings.box_namespace}")
