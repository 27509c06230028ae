"""The controller of generic ephemeral volumes: makes the claim that a pod's volume describes, and that goes with it.

https://kubernetes.io/docs/concepts/storage/ephemeral-volumes/#generic-ephemeral-volumes
"""

import contextlib
from typing import Any

from tests.k8s.cluster_double.api import Api
from tests.k8s.cluster_double.kubelet.claims import claim_of
from tests.k8s.cluster_double.objects.errors import Refused
from tests.k8s.cluster_double.objects.resources import BY_KIND

Object = dict[str, Any]

POD = BY_KIND["Pod"]
CLAIM = BY_KIND["PersistentVolumeClaim"]


class EphemeralVolumes:
    """Follows the store's changes."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def run(self) -> None:
        """Follow the store until cancelled."""
        async for change in self._api.store.changes(self._api.store.version):
            if change.resource in (POD, CLAIM):
                for pod in self._api.store.list(POD):
                    self._provide(pod)

    def _provide(self, pod: Object) -> None:
        if pod["metadata"].get("deletionTimestamp"):
            return
        for volume in pod["spec"].get("volumes") or []:
            template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
            name = claim_of(pod, volume)
            # One of that name which is not this pod's stands in the way until it has gone.
            if template is None or self._api.store.find(CLAIM, pod["metadata"]["namespace"], name):
                continue
            owner = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
            metadata = {
                **(template.get("metadata") or {}),
                "name": name,
                "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
            }
            with contextlib.suppress(Refused):
                wanted = {"metadata": metadata, "spec": template["spec"]}
                self._api.create(CLAIM, pod["metadata"]["namespace"], wanted, strict=True)
