"""Whether the cluster would take a box as the settings make it: all of its admission is asked, and nothing is made.

https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run
"""

import secrets

from k8s.boxes import BoxSpec, BoxStatus
from k8s.cluster import Cluster, ClusterError
from k8s.options import PodOptions
from k8s.pod import box_pod, home_claim
from k8s.refusals import refusal


async def refused(cluster: Cluster, instance: str, options: PodOptions) -> BoxStatus | None:
    """What stands against a box, its home and its pod, in words; None where nothing does.

    Raises ClusterUnreachable, and ClusterError for what says nothing about the box.
    """
    labels = {"instance": instance, "installation": "0", "person": "0"}
    spec = BoxSpec(
        name=f"gl-trial-{secrets.token_hex(4)}", owner_key="", labels=labels, token="", service_url="http://service"
    )
    for wanted in (home_claim(instance, spec, options), box_pod(instance, spec, options)):
        try:
            if wanted is not None:
                await cluster.create(wanted, dry=True)
        except ClusterError as error:
            status = refusal(spec, error)
            if status is None:
                raise
            return status
    return None
