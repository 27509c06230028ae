"""Which claim a volume of a pod is of. Pure."""

from typing import Any

Object = dict[str, Any]


def claim_of(pod: Object, volume: Object) -> str:
    """The name of the volume's claim; empty for one that has none."""
    if "ephemeral" in volume:
        return f"{pod['metadata']['name']}-{volume['name']}"
    return str((volume.get("persistentVolumeClaim") or {}).get("claimName", ""))


def claims_of(pod: Object) -> list[str]:
    """The names of all claims that the pod's volumes are of."""
    return [name for volume in pod["spec"].get("volumes") or [] if (name := claim_of(pod, volume))]


def is_anothers(pod: Object, name: str, claim: Object) -> bool:
    """Whether the claim was to be made for this pod, and is not its own: then the pod does not get it."""
    made_for_it = any("ephemeral" in volume and claim_of(pod, volume) == name for volume in pod["spec"]["volumes"])
    owners = claim["metadata"].get("ownerReferences") or []
    return made_for_it and all(owner["uid"] != pod["metadata"]["uid"] for owner in owners)
