"""What of an object cannot change."""

import copy
from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.objects.errors import invalid
from tests.k8s.cluster_double.objects.resources import Resource
from tests.k8s.cluster_double.validation.causes import bad, denied

Object = dict[str, Any]

IMMUTABLE = "field is immutable"
POD_FIELDS = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
    "previously negative)"
)
CLAIM_WORDS = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)
SET_FIELDS = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def check_update(resource: Resource, before: Object, after: Object) -> None:
    """Raises Refused 422 for a change of what cannot change."""
    causes = [*_identity(before, after), *_kind(resource.kind, before, after)]
    if causes:
        raise invalid(resource, after["metadata"]["name"], causes)


def _identity(before: Object, after: Object) -> Iterator[str]:
    uid = after["metadata"].get("uid")
    if uid not in (None, before["metadata"].get("uid")):
        yield bad("metadata.uid", uid, IMMUTABLE)


def _kind(kind: str, before: Object, after: Object) -> Iterator[str]:
    old, new = before.get("spec") or {}, after.get("spec") or {}
    if kind == "Pod":
        if len(old.get("containers") or []) != len(new.get("containers") or []):
            yield denied("spec.containers", "pod updates may not add or remove containers")
        elif _frozen(old) != _frozen(new):
            yield denied("spec", f"pod updates may not change fields other than {POD_FIELDS}")
    elif kind == "PersistentVolumeClaim":
        if {**old, "resources": None} != {**new, "resources": None}:
            yield denied("spec", CLAIM_WORDS)
    elif kind in ("Deployment", "ReplicaSet", "DaemonSet") and old.get("selector") != new.get("selector"):
        yield bad("spec.selector", new.get("selector"), IMMUTABLE)
    elif kind == "StatefulSet" and _without(old, SET_FIELDS) != _without(new, SET_FIELDS):
        *most, last = (f"'{field}'" for field in SET_FIELDS)
        fields = f"{', '.join(most)} and {last}"
        yield denied("spec", f"updates to statefulset spec for fields other than {fields} are forbidden")
    elif kind == "Job" and old.get("template") != new.get("template"):
        yield f"spec.template: Invalid value: {IMMUTABLE}"
    elif kind == "RoleBinding" and before.get("roleRef") != after.get("roleRef"):
        wanted = after.get("roleRef") or {}
        names = {"APIGroup": "apiGroup", "Kind": "kind", "Name": "name"}
        yield bad("roleRef", {key: wanted.get(name, "") for key, name in names.items()}, "cannot change roleRef")
    elif kind in ("Secret", "ConfigMap"):
        yield from _configuration(kind, before, after)


def _configuration(kind: str, before: Object, after: Object) -> Iterator[str]:
    if kind == "Secret" and before.get("type") != after.get("type", "Opaque"):
        yield bad("type", after.get("type", ""), IMMUTABLE)
    if before.get("immutable"):
        if not after.get("immutable"):
            yield denied("immutable", "field is immutable when `immutable` is set")
        if before.get("data") != after.get("data"):
            yield denied("data", "field is immutable when `immutable` is set")


def _without(spec: Object, fields: tuple[str, ...]) -> Object:
    return {key: value for key, value in spec.items() if key not in fields}


def _frozen(spec: Object) -> Object:
    frozen = copy.deepcopy(_without(spec, ("tolerations", "nodeName", "activeDeadlineSeconds")))
    for field in ("containers", "initContainers"):
        for container in frozen.get(field) or []:
            container["image"] = ""
    return frozen
