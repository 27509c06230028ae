"""What of an object cannot change."""

import copy
from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.objects.errors import Refused, conflict, invalid
from tests.k8s.cluster_double.objects.resources import Resource
from tests.k8s.cluster_double.validation.causes import bad, denied
from tests.k8s.cluster_double.validation.quantities import quantity

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
# Kinds that only who has seen the newest version may change.
CONDITIONAL = {"PodDisruptionBudget", "Lease"}
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
    """Raises Refused 422 for a change of what cannot change, 409 for one of another object of the same name."""
    name = after["metadata"]["name"]
    uid, known = after["metadata"].get("uid"), before["metadata"].get("uid")
    if uid not in (None, "", known):
        where = f"/registry/{resource.plural}/{after['metadata'].get('namespace', '')}/{name}"
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {known}"
        words = f"StorageError: invalid object, Code: 4, Key: {where}, ResourceVersion: 0, AdditionalErrorMsg: {why}"
        raise conflict(resource, name, words)
    version = after["metadata"].get("resourceVersion")
    if version and not version.isdigit():
        raise Refused(500, "", f'strconv.ParseUint: parsing "{version}": invalid syntax')
    if resource.kind in CONDITIONAL and not version:
        words = "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
        raise Refused(422, "Invalid", f'{resource.qualified} "{name}" is invalid: {words}')
    causes = list(_kind(resource.kind, before, after))
    if causes:
        raise invalid(resource, name, causes)


def _kind(kind: str, before: Object, after: Object) -> Iterator[str]:
    old, new = before.get("spec") or {}, after.get("spec") or {}
    if kind == "Pod":
        if len(old.get("containers") or []) != len(new.get("containers") or []):
            yield denied("spec.containers", "pod updates may not add or remove containers")
        elif _frozen(old) != _frozen(new):
            yield denied("spec", f"pod updates may not change fields other than {POD_FIELDS}")
    elif kind == "PersistentVolumeClaim":
        yield from _claim(before, old, new)
    elif kind == "Service":
        was, wanted = old.get("clusterIP"), new.get("clusterIP")
        if was and wanted and was != wanted and new.get("type") != "ExternalName":
            yield bad("spec.clusterIPs[0]", [wanted], "may not change once set")
    elif kind in ("Deployment", "ReplicaSet", "DaemonSet") and old.get("selector") != new.get("selector"):
        yield bad("spec.selector", new.get("selector"), IMMUTABLE)
    elif kind == "StatefulSet" and _without(old, SET_FIELDS) != _without(new, SET_FIELDS):
        *most, last = (f"'{field}'" for field in SET_FIELDS)
        fields = f"{', '.join(most)} and {last}"
        yield denied("spec", f"updates to statefulset spec for fields other than {fields} are forbidden")
    elif kind == "Job":
        if old.get("completions") != new.get("completions"):
            yield bad("spec.completions", new.get("completions"), IMMUTABLE)
        if old.get("template") != new.get("template"):
            yield f"spec.template: Invalid value: {IMMUTABLE}"
    elif kind in ("RoleBinding", "ClusterRoleBinding") and before.get("roleRef") != after.get("roleRef"):
        wanted = after.get("roleRef") or {}
        names = {"APIGroup": "apiGroup", "Kind": "kind", "Name": "name"}
        yield bad("roleRef", {key: wanted.get(name, "") for key, name in names.items()}, "cannot change roleRef")
    elif kind in ("Secret", "ConfigMap"):
        yield from _configuration(kind, before, after)


def _claim(before: Object, old: Object, new: Object) -> Iterator[str]:
    """A claim without a class may get one, and one without a volume a volume; a bound one may grow."""
    bound = (before.get("status") or {}).get("phase") == "Bound"
    free = {field for field in ("storageClassName", "volumeName") if not old.get(field)}
    free |= {"resources"} if bound else set()
    if any(old.get(field) != new.get(field) for field in {*old, *new} - free):
        yield denied("spec", CLAIM_WORDS)
        return
    was, wanted = (quantity(each["resources"]["requests"]["storage"]) for each in (old, new))
    if wanted < was:
        yield denied("spec.resources.requests.storage", "field can not be less than status.capacity")


def _configuration(kind: str, before: Object, after: Object) -> Iterator[str]:
    if kind == "Secret" and before.get("type") != (after.get("type") or "Opaque"):
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
