"""The garbage collector: what an object owned goes with it, and so does what names an owner that is not there."""

import contextlib
from typing import Any

from tests.k8s.cluster_double.api import Api
from tests.k8s.cluster_double.objects.errors import Refused
from tests.k8s.cluster_double.objects.resources import BY_KIND, RESOURCES, Resource

Object = dict[str, Any]

NAMESPACE = BY_KIND["Namespace"]


class Garbage:
    """Follows the store's changes; deletes in the background, as is the default."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def run(self) -> None:
        """Follow the store until cancelled."""
        async for change in self._api.store.changes(self._api.store.version):
            if change.after is None:
                self._finish(change.item["metadata"].get("namespace", ""))
                for resource in RESOURCES:
                    for item in self._api.store.list(resource):
                        if any(by["uid"] == change.item["metadata"]["uid"] for by in _owners(item)):
                            self._collect(resource, item)
            elif change.before is None and _owners(change.item):
                self._collect(change.resource, change.item)

    def _finish(self, namespace: str) -> None:
        """Remove a namespace that is being deleted once nothing is left in it."""
        found = self._api.store.find(NAMESPACE, "", namespace)
        left = any(self._api.store.list(resource, namespace) for resource in RESOURCES if resource.namespaced)
        if found is not None and found["metadata"].get("deletionTimestamp") and not left:
            self._api.store.remove(NAMESPACE, "", namespace)

    def _collect(self, resource: Resource, item: Object) -> None:
        """Delete an object none of whose owners is there."""
        metadata = item["metadata"]
        namespace = metadata.get("namespace", "")
        if not any(self._there(by, namespace) for by in _owners(item)):
            with contextlib.suppress(Refused):
                self._api.delete(resource, namespace, metadata["name"], {"preconditions": {"uid": metadata["uid"]}})

    def _there(self, owner: Object, namespace: str) -> bool:
        for resource in RESOURCES:
            if (resource.api_version, resource.kind) == (owner["apiVersion"], owner["kind"]):
                found = self._api.store.find(resource, namespace if resource.namespaced else "", owner["name"])
                return found is not None and found["metadata"]["uid"] == owner["uid"]
        return False


def _owners(item: Object) -> list[Object]:
    return item["metadata"].get("ownerReferences") or []
