"""The verbs of the API on the store: validation, admission, preconditions and graceful deletion in the right order."""

import asyncio
import base64
import copy
from typing import Any

from tests.k8s.cluster_double.admission.admit import admit, fill_in, prepare
from tests.k8s.cluster_double.admission.defaults import default_binding, default_limits, default_pod, without_nulls
from tests.k8s.cluster_double.network import Network
from tests.k8s.cluster_double.objects.errors import Refused, bad_request, invalid
from tests.k8s.cluster_double.objects.ownership import Ownership
from tests.k8s.cluster_double.objects.patches import patched
from tests.k8s.cluster_double.objects.resources import BY_KIND, RESOURCES, Resource
from tests.k8s.cluster_double.objects.store import Store
from tests.k8s.cluster_double.validation.networking.services import allocated
from tests.k8s.cluster_double.validation.shape import check_shape
from tests.k8s.cluster_double.validation.updates import check_update
from tests.k8s.cluster_double.validation.values import check_values

Object = dict[str, Any]

POD = BY_KIND["Pod"]
ACCOUNT = BY_KIND["ServiceAccount"]
ENDED = ("Succeeded", "Failed")
# Finalizers that controllers of Kubernetes take away once the pods are gone.
PROTECTIONS = {"kubernetes.io/pvc-protection"}
# How long a new namespace has no default account, and takes no pods.
ACCOUNT_SECONDS = 0.3


class Api:
    """What the HTTP surface and the controllers do to objects. Every method raises `Refused`."""

    def __init__(self, store: Store, network: Network | None = None) -> None:
        self.store = store
        self._network = network or Network()
        self._ownership = Ownership()

    def create(self, resource: Resource, namespace: str, body: Object, *, strict: bool, dry: bool = False) -> Object:
        item = self._received(resource, namespace, body, strict=strict)
        named = copy.deepcopy(item)
        if not named["metadata"].get("name") and named["metadata"].get("generateName"):
            named["metadata"]["name"] = named["metadata"]["generateName"] + "xxxxx"
        prepare(self.store, resource, named)
        check_values(resource, named)
        # Before the name is looked at: with a full quota even a name that is taken is a 403, not a 409.
        admit(self.store, resource, named)
        if resource.kind == "Service":
            if lacking := list(allocated(named["spec"], self._network.services, dry=dry)):
                raise invalid(resource, named["metadata"]["name"], lacking)
            named["spec"].setdefault("clusterIP", self._network.service())
        if dry:
            return named
        named["metadata"]["name"] = item["metadata"].get("name")
        made = self.store.create(resource, named)
        if resource.kind == "Namespace":
            asyncio.get_running_loop().call_later(ACCOUNT_SECONDS, self.add_account, made["metadata"]["name"])
        return made

    def add_account(self, namespace: str) -> None:
        """The account that pods have by default, which a controller makes some time after its namespace."""
        there = self.store.find(BY_KIND["Namespace"], "", namespace) is not None
        if there and self.store.find(ACCOUNT, namespace, "default") is None:
            metadata = {"name": "default", "namespace": namespace}
            self.store.create(ACCOUNT, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})

    def update(self, resource: Resource, namespace: str, name: str, body: Object, *, strict: bool) -> Object:
        item = self._received(resource, namespace, body, strict=strict)
        if (given := item["metadata"].get("name", name)) != name:
            raise bad_request(f"the name of the object ({given}) does not match the name on the URL ({name})")
        item["metadata"]["name"] = name
        before = self.store.get(resource, namespace, name)
        fill_in(resource, item)
        check_values(resource, item)
        check_update(resource, before, item)
        if "status" in before:
            item["status"] = before["status"]
        return self.store.update(resource, item)

    def patch(
        self, resource: Resource, namespace: str, name: str, body: Any, media: str, *, strict: bool, dry: bool = False
    ) -> Object:
        before = self.store.get(resource, namespace, name)
        after = patched(before, body, media)
        after["apiVersion"], after["kind"] = before["apiVersion"], before["kind"]
        if dry:
            return after
        return self.update(resource, namespace, name, after, strict=strict)

    def apply(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        body: Any,
        manager: str,
        *,
        strict: bool,
        force: bool = False,
        dry: bool = False,
    ) -> Object:
        """Server-side apply: create, or bring the fields of this manager to what it wants now."""
        if not isinstance(body, dict):
            raise bad_request("an apply patch is an object")
        if not manager:
            words = "fieldManager: Required value: is required for apply patch"
            raise Refused(422, "Invalid", f'PatchOptions.meta.k8s.io "" is invalid: {words}')
        before = self.store.find(resource, namespace, name)
        if before is None:
            result = self.create(resource, namespace, body, strict=strict, dry=dry)
        else:
            result = self._ownership.apply(before, manager, body, force=force)
            if not dry:
                result = self.update(resource, namespace, name, result, strict=strict)
        if not dry:
            self._ownership.note(result, manager, body)
        return result

    def set_status(self, resource: Resource, namespace: str, name: str, status: Object) -> Object:
        found = self.store.get(resource, namespace, name)
        return self.store.update(resource, found | {"status": status})

    def delete(self, resource: Resource, namespace: str, name: str, options: Object) -> Object:
        """Delete at once, or begin a graceful deletion where a kubelet or a finalizer has to have its turn."""
        item = self.store.get(resource, namespace, name)
        self.store.check(resource, item, options.get("preconditions") or {})
        grace = options.get("gracePeriodSeconds")
        if grace is not None and grace < 0:
            raise invalid(resource, name, [f"gracePeriodSeconds: Invalid value: {grace}: must be non-negative"])
        if resource.kind == "Pod":
            if grace is None:
                grace = item["spec"].get("terminationGracePeriodSeconds", 30)
            if not item["spec"].get("nodeName") or item["status"].get("phase") in ENDED:
                grace = 0
            if grace > 0:
                return self.store.mark_deleted(resource, item, grace)
        elif item["metadata"].get("finalizers"):
            return self.store.mark_deleted(resource, item, 0)
        if resource.kind == "Namespace" and not self._empty(name):
            going = self.store.mark_deleted(resource, item, 0)
            return self.store.update(resource, going | {"status": {"phase": "Terminating"}})
        return self.store.remove(resource, namespace, name)

    def _empty(self, namespace: str) -> bool:
        """Whether nothing is left in the namespace. What has a finalizer of somebody's waits for it."""
        left = False
        for resource in RESOURCES:
            if resource.namespaced:
                for item in self.store.list(resource, namespace):
                    if set(item["metadata"].get("finalizers") or []) - PROTECTIONS:
                        self.store.mark_deleted(resource, item, 0)
                        left = True
                    else:
                        self.store.remove(resource, namespace, item["metadata"]["name"])
        return not left

    def _received(self, resource: Resource, namespace: str, body: Any, *, strict: bool) -> Object:
        """What a body comes to before anything is looked up for it. Raises Refused 400."""
        if not isinstance(body, dict) or not isinstance(body.get("metadata", {}), dict):
            raise bad_request("the body of the request is no object")
        item: Object = without_nulls(copy.deepcopy(body))
        for field, wanted in (("kind", resource.kind), ("apiVersion", resource.api_version)):
            if item.setdefault(field, wanted) != wanted:
                raise bad_request(f"the {field} in the data ({item[field]}) does not match the expected ({wanted})")
        metadata = item.setdefault("metadata", {})
        metadata.pop("managedFields", None)
        check_shape(resource, item, strict=strict)
        if resource.kind == "Pod":
            default_pod(item.setdefault("spec", {}))
        elif resource.kind == "LimitRange":
            default_limits(item.get("spec") or {})
        elif resource.kind in ("RoleBinding", "ClusterRoleBinding"):
            default_binding(item)
        elif resource.kind == "Secret" and "stringData" in item:
            plain = {key: base64.b64encode(text.encode()).decode() for key, text in item.pop("stringData").items()}
            item["data"] = {**(item.get("data") or {}), **plain}
        if resource.namespaced and metadata.setdefault("namespace", namespace) != namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        return item
