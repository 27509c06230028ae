"""What the API server checks of an object before it stores it: shape by Kubernetes' own types, then names and values.

Shapes come from the models of the official client, generated from Kubernetes' OpenAPI document.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pydantic

from tests.k8s.cluster_double.objects.errors import Refused, bad_request, invalid
from tests.k8s.cluster_double.objects.resources import Resource

Object = dict[str, Any]

SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]")
LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?")
ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
QUANTITY = re.compile(r"([+-]?[0-9.]+)([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?")

SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}

SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character"
)
LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character"
)
PATH_NAMES = {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
LABEL_NAMES = {"Namespace", "Service"}
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
MAX_SECRET_BYTES = 1024 * 1024


def check_shape(resource: Resource, item: Object, *, strict: bool) -> list[str]:
    """Refuse wrong types (400) and missing fields (422). Unknown fields: refused (400) if strict, else returned."""
    from kubernetes.aio.client import models

    prefix = {"autoscaling": "V2"}.get(resource.group, "V1")
    model = getattr(models, prefix + resource.kind, None)
    if model is None:
        return []
    try:
        model.model_validate(item)
    except pydantic.ValidationError as error:
        unknown, missing = [], []
        for problem in error.errors():
            path = _path(problem["loc"])
            if problem["type"] == "extra_forbidden":
                unknown.append(f'unknown field "{path}"')
            elif problem["type"] == "missing":
                missing.append(f"{path}: Required value")
            elif problem.get("input") is not None:
                message = f"{resource.kind} in version {resource.version!r} cannot be handled: {path}: {problem['msg']}"
                raise bad_request(message) from error
        if unknown and strict:
            raise bad_request("strict decoding error: " + ", ".join(unknown)) from error
        if missing:
            raise invalid(resource, str(item.get("metadata", {}).get("name", "")), missing) from error
        return unknown
    return []


def check_values(resource: Resource, item: Object) -> None:
    """Refuse (422) names, labels, quantities and references that Kubernetes would refuse."""
    causes = [*_metadata(resource, item["metadata"])]
    if resource.kind == "Pod":
        causes += _pod(item.get("spec") or {})
    elif resource.kind == "PersistentVolumeClaim":
        causes += _claim(item.get("spec") or {})
    elif resource.kind == "Secret":
        _secret(item)
    elif resource.kind == "ResourceQuota":
        causes += _quantities("spec.hard", (item.get("spec") or {}).get("hard") or {})
    if causes:
        raise invalid(resource, str(item["metadata"].get("name", "")), causes)


def check_update(resource: Resource, before: Object, after: Object) -> None:
    """Refuse (422) changes of what cannot change."""
    name = after["metadata"]["name"]
    if after["metadata"].get("uid") not in (None, before["metadata"]["uid"]):
        raise invalid(resource, name, ["metadata.uid: Invalid value: field is immutable"])
    if resource.kind == "Pod" and _frozen(before) != _frozen(after):
        fields = "`spec.containers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions)"
        raise invalid(resource, name, [f"spec: Forbidden: pod updates may not change fields other than {fields}"])
    if resource.kind == "PersistentVolumeClaim":
        old, new = ({**item.get("spec", {}), "resources": None} for item in (before, after))
        if old != new:
            raise invalid(
                resource, name, ["spec: Forbidden: spec is immutable after creation except resources.requests"]
            )


def quantity(text: object) -> Decimal:
    """The value of a Kubernetes quantity, in bytes or cores. Raises ValueError if it is none."""
    found = QUANTITY.fullmatch(str(text))
    if not found or found[1].count(".") > 1 or found[1].strip("+-.") == "":
        raise ValueError(f"{text!r} is no quantity")
    number, suffix = Decimal(found[1]), found[2] or ""
    if suffix in BINARY:
        return number * Decimal(1024) ** BINARY[suffix]
    if suffix[:1] in ("e", "E") and len(suffix) > 1:
        return number.scaleb(int(suffix[1:]))
    return number.scaleb(SUFFIXES[suffix])


def _path(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def _metadata(resource: Resource, metadata: Object) -> Iterator[str]:
    name = metadata.get("name")
    if not name:
        yield "metadata.name: Required value: name or generateName is required"
    elif resource.kind in LABEL_NAMES:
        if not DNS_LABEL.fullmatch(name):
            yield f'metadata.name: Invalid value: "{name}": {LABEL_TEXT}'
    elif resource.kind in PATH_NAMES:
        if "/" in name or "%" in name or name in (".", ".."):
            yield f'metadata.name: Invalid value: "{name}": may not contain "/"'
    elif len(name) > 253 or not SUBDOMAIN.fullmatch(name):
        yield f'metadata.name: Invalid value: "{name}": {SUBDOMAIN_TEXT}'
    for key, value in (metadata.get("labels") or {}).items():
        if not _qualified(key):
            yield f'metadata.labels: Invalid value: "{key}": name part must consist of alphanumeric characters'
        if len(value) > 63 or not LABEL_VALUE.fullmatch(value):
            yield f'metadata.labels: Invalid value: "{value}": a valid label must be an empty string or consist of …'
    for key in metadata.get("annotations") or {}:
        if not _qualified(key.lower()):
            yield f'metadata.annotations: Invalid value: "{key}": name part must consist of alphanumeric characters'


def _qualified(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or not SUBDOMAIN.fullmatch(prefix)):
        return False
    return bool(QUALIFIED.fullmatch(name)) and len(name) <= 63


def _pod(spec: Object) -> Iterator[str]:
    containers = spec.get("containers") or []
    if not containers:
        yield "spec.containers: Required value"
    yield from _enum("spec.restartPolicy", spec.get("restartPolicy"), ("Always", "OnFailure", "Never"))
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        yield "spec.terminationGracePeriodSeconds: Invalid value: must be greater than or equal to 0"
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and deadline < 1:
        yield f"spec.activeDeadlineSeconds: Invalid value: {deadline}: must be between 1 and 2147483647, inclusive"
    volumes = [volume.get("name", "") for volume in spec.get("volumes") or []]
    yield from _unique("spec.volumes", "name", volumes)
    for at, volume in enumerate(spec.get("volumes") or []):
        yield from _volume(f"spec.volumes[{at}]", volume)
    for at, toleration in enumerate(spec.get("tolerations") or []):
        yield from _enum(f"spec.tolerations[{at}].operator", toleration.get("operator"), ("Exists", "Equal"))
    yield from _unique("spec.containers", "name", [container.get("name", "") for container in containers])
    for field in ("initContainers", "containers"):
        for at, container in enumerate(spec.get(field) or []):
            yield from _container(f"spec.{field}[{at}]", container, volumes)


def _volume(path: str, volume: Object) -> Iterator[str]:
    if not DNS_LABEL.fullmatch(volume.get("name", "")):
        yield f'{path}.name: Invalid value: "{volume.get("name", "")}": {LABEL_TEXT}'
    if len(volume) != 2:
        yield f"{path}: Required value: must specify exactly one volume type"
    mode = (volume.get("secret") or {}).get("defaultMode")
    if mode is not None and not 0 <= mode <= 0o777:
        yield f"{path}.secret.defaultMode: Invalid value: {mode}: must be a number between 0 and 0777 (octal)"
    limit = (volume.get("emptyDir") or {}).get("sizeLimit")
    if limit is not None:
        yield from _quantities(f"{path}.emptyDir", {"sizeLimit": limit})


def _container(path: str, container: Object, volumes: list[str]) -> Iterator[str]:
    if not DNS_LABEL.fullmatch(container.get("name", "")):
        yield f'{path}.name: Invalid value: "{container.get("name", "")}": {LABEL_TEXT}'
    if not container.get("image"):
        yield f"{path}.image: Required value"
    yield from _enum(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), PULL_POLICIES)
    yield from _enum(f"{path}.terminationMessagePolicy", container.get("terminationMessagePolicy"), MESSAGE_POLICIES)
    for at, env in enumerate(container.get("env") or []):
        if not ENV_NAME.fullmatch(env.get("name", "")):
            yield f'{path}.env[{at}].name: Invalid value: "{env.get("name", "")}"'
    mounts = container.get("volumeMounts") or []
    for at, mount in enumerate(mounts):
        if mount.get("name") not in volumes:
            yield f'{path}.volumeMounts[{at}].name: Not found: "{mount.get("name")}"'
    paths = [mount.get("mountPath", "") for mount in mounts]
    if len(set(paths)) < len(paths):
        yield f"{path}.volumeMounts: Invalid value: must be unique"
    resources = container.get("resources") or {}
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    bad = [*_quantities(f"{path}.resources.requests", requests), *_quantities(f"{path}.resources.limits", limits)]
    yield from bad
    for key in requests.keys() & limits.keys() if not bad else ():
        if quantity(requests[key]) > quantity(limits[key]):
            words = f"must be less than or equal to {key} limit"
            yield f'{path}.resources.requests: Invalid value: "{requests[key]}": {words}'


def _claim(spec: Object) -> Iterator[str]:
    modes = spec.get("accessModes") or []
    if not modes:
        yield "spec.accessModes: Required value: at least 1 access mode is required"
    known = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
    for mode in modes:
        yield from _enum("spec.accessModes", mode, known)
    requests = (spec.get("resources") or {}).get("requests") or {}
    if "storage" not in requests:
        yield "spec.resources[storage]: Required value"
    yield from _quantities("spec.resources.requests", requests)


def _secret(item: Object) -> None:
    size = 0
    for key, value in (item.get("data") or {}).items():
        try:
            size += len(base64.b64decode(value, validate=True))
        except (binascii.Error, TypeError) as error:
            raise bad_request(f"Secret in version 'v1' cannot be handled: data[{key}]: illegal base64 data") from error
    if size > MAX_SECRET_BYTES:
        raise Refused(422, "Invalid", "data: Too long: may not be more than 1048576 bytes")


def _quantities(path: str, values: Object) -> Iterator[str]:
    for key, value in values.items():
        try:
            if quantity(value) < 0:
                yield f'{path}[{key}]: Invalid value: "{value}": must be greater than or equal to 0'
        except ValueError:
            yield f'{path}[{key}]: Invalid value: "{value}": quantities must match the regular expression'


def _enum(path: str, value: object, allowed: tuple[str, ...]) -> Iterator[str]:
    if value is not None and value not in allowed:
        names = ", ".join(f'"{name}"' for name in allowed)
        yield f'{path}: Unsupported value: "{value}": supported values: {names}'


def _unique(path: str, field: str, values: list[str]) -> Iterator[str]:
    for value in sorted({value for value in values if values.count(value) > 1}):
        yield f'{path}.{field}: Duplicate value: "{value}"'


def _frozen(pod: Object) -> Object:
    spec = {key: value for key, value in (pod.get("spec") or {}).items() if key not in ("tolerations", "nodeName")}
    spec.pop("activeDeadlineSeconds", None)
    spec["containers"] = [{**container, "image": ""} for container in spec.get("containers") or []]
    return spec
