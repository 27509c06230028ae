"""What the claim of a home says of a box that does not come up: the volume is missing, and of which class. Pure.

A claim of a class that binds at once waits by itself. One whose class waits for the first consumer is provisioned while
its pod has no condition at all, for as long as ten minutes, so that only the claim tells what is waited for:
https://kubernetes.io/docs/concepts/storage/storage-classes/#volume-binding-mode
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

from k8s.boxes import BoxState, BoxStatus

Object = dict[str, Any]

USUAL_SECONDS = 5.0
"""So long a volume may take before anybody is told."""


def with_claim(status: BoxStatus, claim: Object | None, now: float) -> BoxStatus:
    """The status of a box that waits for its volume, with what its claim tells at the Unix time `now`."""
    if claim is None or (claim.get("status") or {}).get("phase") == "Bound":
        return status
    age = now - datetime.fromisoformat(claim["metadata"]["creationTimestamp"]).timestamp()
    if age < USUAL_SECONDS and not status.message:
        return status
    name = claim["metadata"]["name"]
    if (claim.get("status") or {}).get("phase") == "Lost":
        words = f"The volume of the box's home is gone: its claim {name} has lost it."
    else:
        words = f"The box waits for the volume of its home: {_wanted(claim)} (claim {name})."
    return replace(status, state=BoxState.UNSCHEDULABLE, message=f"{words} {status.message}".strip())


def _wanted(claim: Object) -> str:
    wanted = claim["spec"].get("storageClassName")
    if wanted is None:
        return "no storage class is set (boxes.pod.home.storageClass), and the cluster has no default one"
    if wanted == "":
        return "its storage class is empty, so that only a volume that somebody makes by hand will do"
    return f'none of the storage class "{wanted}" has come yet'
