"""The rights that boxes on Kubernetes need, in their own namespace only; and which of them are missing."""

from k8s.cluster import Cluster

# (API group, resource) -> verbs. The chart's Role grants exactly these.
RIGHTS = {
    ("", "pods"): ("get", "list", "watch", "create", "patch", "delete"),
    ("", "persistentvolumeclaims"): ("get", "list", "create", "patch", "delete"),
    ("", "secrets"): ("get", "list", "create", "patch", "delete"),
}
# On the ConfigMap that owns the boxes (`k8s.release`), and on no other.
OWNER_RIGHTS = {("", "configmaps"): ("get", "delete")}


def rules(owner: str = "") -> list[dict[str, list[str]]]:
    """The rights as the rules of a Role."""
    named = OWNER_RIGHTS if owner else {}
    return [
        *(_rule(*thing, verbs) for thing, verbs in RIGHTS.items()),
        *({**_rule(*thing, verbs), "resourceNames": [owner]} for thing, verbs in named.items()),
    ]


def _rule(group: str, resource: str, verbs: tuple[str, ...]) -> dict[str, list[str]]:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}


async def missing_rights(cluster: Cluster, owner: str = "") -> list[str]:
    """What our credentials may not do, as `verb resource`; empty when nothing is missing. Raises ClusterUnreachable."""
    wanted = [(verb, *thing, "") for thing, verbs in RIGHTS.items() for verb in verbs]
    if owner:
        wanted += [(verb, *thing, owner) for thing, verbs in OWNER_RIGHTS.items() for verb in verbs]
    return [
        f"{verb} {resource}{' ' if name else ''}{name}"
        for verb, group, resource, name in wanted
        if not await cluster.review(verb, group, resource, name)
    ]
