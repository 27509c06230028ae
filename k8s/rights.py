"""The rights that boxes on Kubernetes need, in their own namespace only; and which of them are missing."""

from k8s.cluster import Cluster

# (API group, resource) -> verbs. The chart's Role grants exactly these.
RIGHTS = {
    ("", "pods"): ("get", "list", "watch", "create", "patch", "delete"),
    ("", "persistentvolumeclaims"): ("get", "list", "create", "patch", "delete"),
    ("", "secrets"): ("get", "list", "create", "patch", "delete"),
}


def rules() -> list[dict[str, list[str]]]:
    """The rights as the rules of a Role."""
    return [
        {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}
        for (group, resource), verbs in RIGHTS.items()
    ]


async def missing_rights(cluster: Cluster) -> list[str]:
    """What our credentials may not do, as `verb resource`; empty when nothing is missing. Raises ClusterUnreachable."""
    return [
        f"{verb} {resource}"
        for (group, resource), verbs in RIGHTS.items()
        for verb in verbs
        if not await cluster.review(verb, group, resource)
    ]
