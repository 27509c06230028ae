"""`greenloop remove-boxes`: what the chart runs before a release is uninstalled, while network policies still hold."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.common import one_line_errors

if TYPE_CHECKING:
    from app.settings import Settings


def remove_boxes(
    seconds: Annotated[float, typer.Option(min=0, help="How long to wait until the pods are gone.")] = 180,
) -> None:
    """Remove every box of this installation from its cluster; homes stay unless GREENLOOP_BOX_POD says home.keep=false.

    Needs neither database nor Redis. Exit code 1 when pods are still there in the end.
    """
    from app.settings import Settings

    with one_line_errors():
        left = asyncio.run(_remove(Settings(), seconds))
    if left:
        print(f"greenloop: still there after {seconds:.0f} s: {', '.join(left)}", file=sys.stderr)
        raise typer.Exit(1)


async def _remove(settings: "Settings", seconds: float) -> list[str]:
    from k8s.cluster import Cluster, ClusterError, ClusterUnreachable
    from k8s.release import remove_boxes

    kubeconfig = settings.kubeconfig.expanduser() if settings.kubeconfig else None
    cluster = await Cluster.connect(settings.box_namespace, kubeconfig=kubeconfig)
    homes = not settings.box_pod.home.keep
    try:
        return await remove_boxes(cluster, settings.instance, settings.box_owner, homes=homes, seconds=seconds)
    except (ClusterError, ClusterUnreachable) as error:
        raise ValueError(f"the boxes in {settings.box_namespace} cannot be removed: {error}") from error
    finally:
        await cluster.close()
