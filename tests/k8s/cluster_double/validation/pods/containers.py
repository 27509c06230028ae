"""The containers of a pod."""

from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import (
    bad,
    denied,
    each_bad,
    missing,
    named,
    one_of,
    repeated,
    required,
    unknown,
)
from tests.k8s.cluster_double.validation.names import dns_label, local_path, port_name, port_number
from tests.k8s.cluster_double.validation.pods.probes import PROBES, lifecycle, probes
from tests.k8s.cluster_double.validation.pods.security import of_container
from tests.k8s.cluster_double.validation.pods.variables import variables, whole_sources
from tests.k8s.cluster_double.validation.quantities import container_amounts

Object = dict[str, Any]

GRACE_SECONDS = 30
ONLY_SIDECARS = "may not be set for init containers without restartPolicy=Always"
RESTARTS = ("Always", "Never", "OnFailure")


def containers(path: str, spec: Object, volumes: list[str]) -> Iterator[str]:
    items = spec.get("containers") or []
    if not items:
        yield required(path)
    names: set[str] = set()
    for at, item in enumerate(items):
        here, name = f"{path}[{at}]", item.get("name", "")
        yield from _container(here, item, spec, volumes)
        if name in names:
            yield repeated(f"{here}.name", name)
        names.add(name)
        yield from lifecycle(f"{here}.lifecycle", item.get("lifecycle") or {}, _grace(spec))
        yield from probes(here, item, _grace(spec))
        yield from one_of(f"{here}.restartPolicy", item.get("restartPolicy"), RESTARTS)


def host_ports(path: str, spec: Object) -> Iterator[str]:
    """No two ports of a node are the same, and on its own network none is another."""
    taken: set[str] = set()
    for at, item in enumerate(spec.get("containers") or []):
        for number, port in enumerate(item.get("ports") or []):
            if not port.get("hostPort"):
                continue
            here, host = f"{path}[{at}].ports[{number}].hostPort", port["hostPort"]
            key = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{host}"
            if key in taken:
                yield repeated(here, key)
            taken.add(key)
            if spec.get("hostNetwork") and host != port.get("containerPort"):
                yield bad(here, host, "must match `containerPort` when `hostNetwork` is true")


def init_containers(path: str, spec: Object, volumes: list[str]) -> Iterator[str]:
    names = {item.get("name", "") for item in spec.get("containers") or []}
    for at, item in enumerate(spec.get("initContainers") or []):
        here, name = f"{path}[{at}]", item.get("name", "")
        yield from _container(here, item, spec, volumes)
        yield from one_of(f"{here}.restartPolicy", item.get("restartPolicy"), RESTARTS)
        if name in names:
            yield repeated(f"{here}.name", name)
        names.add(name)
        if item.get("restartPolicy") == "Always":
            yield from lifecycle(f"{here}.lifecycle", item.get("lifecycle") or {}, _grace(spec))
            yield from probes(here, item, _grace(spec))
        else:
            for field in ("lifecycle", *PROBES):
                if item.get(field) is not None:
                    yield denied(f"{here}.{field}", ONLY_SIDECARS)


def _grace(spec: Object) -> int:
    grace = spec.get("terminationGracePeriodSeconds")
    return GRACE_SECONDS if grace is None else int(grace)


def _container(path: str, item: Object, spec: Object, volumes: list[str]) -> Iterator[str]:
    yield from named(f"{path}.name", item.get("name"), dns_label)
    image = item.get("image") or ""
    if not image:
        yield required(f"{path}.image")
    messages = ("File", "FallbackToLogsOnError")
    yield from one_of(f"{path}.terminationMessagePolicy", item.get("terminationMessagePolicy"), messages)
    yield from _ports(f"{path}.ports", item.get("ports") or [])
    yield from variables(f"{path}.env", item.get("env") or [])
    yield from whole_sources(f"{path}.envFrom", item.get("envFrom") or [])
    yield from _mounts(f"{path}.volumeMounts", item, volumes)
    for at, device in enumerate(item.get("volumeDevices") or []):
        if device.get("name") not in volumes:
            yield missing(f"{path}.volumeDevices[{at}].name", device.get("name", ""))
    yield from one_of(f"{path}.imagePullPolicy", item.get("imagePullPolicy"), ("Always", "IfNotPresent", "Never"))
    resources = item.get("resources") or {}
    yield from container_amounts(f"{path}.resources", resources)
    for at, claim in enumerate(resources.get("claims") or []):
        if claim.get("name") not in [each.get("name") for each in spec.get("resourceClaims") or []]:
            words = "must be one of the names in pod.spec.resourceClaims which is empty"
            yield missing(f"{path}.resources.claims[{at}]", claim.get("name", ""), words)
    for policy in item.get("resizePolicy") or []:
        wanted = ("NotRequired", "RestartContainer")
        yield from one_of(f"{path}.resizePolicy", policy.get("restartPolicy"), wanted)
    users = spec.get("hostUsers") is not False
    yield from of_container(f"{path}.securityContext", item.get("securityContext") or {}, host_users=users)


def whole_image_names(path: str, spec: Object) -> Iterator[str]:
    """What a pod's own images may not be, and those of a template may."""
    for kind in ("initContainers", "containers"):
        for at, item in enumerate(spec.get(kind) or []):
            image = item.get("image") or ""
            if image != image.strip():
                yield bad(f"{path}.{kind}[{at}].image", image, "must not have leading or trailing whitespace")


def _ports(path: str, items: list[Object]) -> Iterator[str]:
    names: set[str] = set()
    for at, port in enumerate(items):
        if name := port.get("name"):
            wrong = list(port_name(name))
            yield from each_bad(f"{path}[{at}].name", name, wrong)
            if not wrong and name in names:
                yield repeated(f"{path}[{at}].name", name)
            names.add(name)
        if not port.get("containerPort"):
            yield required(f"{path}[{at}].containerPort")
        for field in ("containerPort", "hostPort"):
            if port.get(field):
                yield from each_bad(f"{path}[{at}].{field}", port[field], port_number(port[field]))
        yield from one_of(f"{path}[{at}].protocol", port.get("protocol"), ("SCTP", "TCP", "UDP"))


def _mounts(path: str, item: Object, volumes: list[str]) -> Iterator[str]:
    paths: set[str] = set()
    for at, mount in enumerate(item.get("volumeMounts") or []):
        here, name, where = f"{path}[{at}]", mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{here}.name")
        if name not in volumes:
            yield missing(f"{here}.name", name)
        if not where:
            yield required(f"{here}.mountPath")
        if where in paths:
            yield bad(f"{here}.mountPath", where, "must be unique")
        paths.add(where)
        part, pattern = mount.get("subPath", ""), mount.get("subPathExpr", "")
        yield from each_bad(f"{path}.subPath", part, local_path(part))
        if part and pattern:
            yield bad(f"{here}.subPathExpr", pattern, "subPathExpr and subPath are mutually exclusive")
        yield from each_bad(f"{path}.subPathExpr", pattern, local_path(pattern))
        yield from _propagation(path, item, mount)


def _propagation(path: str, item: Object, mount: Object) -> Iterator[str]:
    kind, privileged = mount.get("mountPropagation"), (item.get("securityContext") or {}).get("privileged")
    if kind == "Bidirectional" and not privileged:
        words = "Bidirectional mount propagation is available only to privileged containers"
        yield denied(f"{path}.mountPropagation", words)
    elif kind not in (None, "Bidirectional", "HostToContainer", "None"):
        yield unknown(f"{path}.mountPropagation", kind, ("Bidirectional", "HostToContainer", "None"))
    yield from one_of(
        f"{path}.recursiveReadOnly", mount.get("recursiveReadOnly"), ("Disabled", "Enabled", "IfPossible")
    )
    if mount.get("recursiveReadOnly") in ("Enabled", "IfPossible") and not mount.get("readOnly"):
        yield denied(f"{path}.recursiveReadOnly", "may only be specified when readOnly is true")
