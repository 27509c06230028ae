"""The spec of a pod, alone or in a template."""

from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.addresses import ip
from tests.k8s.cluster_double.validation.causes import (
    bad,
    denied,
    each_bad,
    if_named,
    named,
    one_of,
    repeated,
    required,
)
from tests.k8s.cluster_double.validation.metadata import labels
from tests.k8s.cluster_double.validation.names import (
    dns_label,
    dns_subdomain,
    dns_subdomain_or_underscores,
    label_key,
)
from tests.k8s.cluster_double.validation.pods.containers import containers, host_ports, init_containers
from tests.k8s.cluster_double.validation.pods.placement import affinity, spread, tolerations
from tests.k8s.cluster_double.validation.pods.security import host_users, of_pod
from tests.k8s.cluster_double.validation.pods.volumes import volume

Object = dict[str, Any]

DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
NAMED = {
    "serviceAccountName": dns_subdomain,
    "nodeName": dns_subdomain,
    "hostname": dns_label,
    "subdomain": dns_label,
    "priorityClassName": dns_subdomain,
    "runtimeClassName": dns_subdomain,
}
GRACE_SECONDS = 30


def pod(spec: Object, path: str = "spec") -> Iterator[str]:
    volumes: list[str] = []
    for at, each in enumerate(spec.get("volumes") or []):
        here, name = f"{path}.volumes[{at}]", each.get("name", "")
        yield from volume(here, each)
        yield from named(f"{here}.name", name, dns_label)
        if name in volumes:
            yield repeated(f"{here}.name", name)
        volumes.append(name)
    yield from containers(f"{path}.containers", spec, volumes)
    yield from host_ports(f"{path}.containers", spec)
    yield from init_containers(f"{path}.initContainers", spec, volumes)
    if spec.get("ephemeralContainers"):
        yield denied(f"{path}.ephemeralContainers", "cannot be set on create")
    yield from one_of(f"{path}.restartPolicy", spec.get("restartPolicy"), ("Always", "OnFailure", "Never"))
    yield from one_of(f"{path}.dnsPolicy", spec.get("dnsPolicy"), DNS_POLICIES)
    yield from labels(f"{path}.nodeSelector", spec.get("nodeSelector") or {})
    yield from of_pod(path, spec)
    yield from affinity(f"{path}.affinity", spec.get("affinity") or {})
    yield from _dns(f"{path}.dnsConfig", spec)
    yield from _gates(path, spec)
    yield from spread(f"{path}.topologySpreadConstraints", spec.get("topologySpreadConstraints") or [])
    yield from host_users(path, spec)
    for field, check in NAMED.items():
        yield from if_named(f"{path}.{field}", spec.get(field), check)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 2**31:
        yield bad(f"{path}.activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive")
    yield from tolerations(f"{path}.tolerations", spec.get("tolerations") or [])
    for at, alias in enumerate(spec.get("hostAliases") or []):
        yield from each_bad(f"{path}.hostAliases[{at}].ip", alias.get("ip", ""), ip(alias.get("ip", "")))
        for number, name in enumerate(alias.get("hostnames") or []):
            yield from each_bad(f"{path}.hostAliases[{at}].hostnames[{number}]", name, dns_subdomain(name))
    yield from one_of(f"{path}.preemptionPolicy", spec.get("preemptionPolicy"), ("PreemptLowerPriority", "Never"))
    if spec.get("os"):
        yield from one_of(f"{path}.os", spec["os"].get("name"), ("linux", "windows"))


def _dns(path: str, spec: Object) -> Iterator[str]:
    found = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None" and found is None:
        yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
    if found is None:
        return
    servers = found.get("nameservers") or []
    if spec.get("dnsPolicy") == "None" and not servers:
        yield required(f"{path}.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
    if len(servers) > 3:
        yield bad(f"{path}.nameservers", servers, "must not have more than 3 nameservers")
    for at, server in enumerate(servers):
        yield from each_bad(f"{path}.nameservers[{at}]", server, ip(server))
    for at, search in enumerate(found.get("searches") or []):
        if search != ".":
            wrong = dns_subdomain_or_underscores(search.removesuffix("."))
            yield from each_bad(f"{path}.searches[{at}]", search.removesuffix("."), wrong)
    for at, option in enumerate(found.get("options") or []):
        if not option.get("name"):
            yield required(f"{path}.options[{at}]", "must not be empty")


def _gates(path: str, spec: Object) -> Iterator[str]:
    for at, gate in enumerate(spec.get("readinessGates") or []):
        kind = gate.get("conditionType", "")
        yield from each_bad(f"{path}.readinessGates[{at}].conditionType", kind, label_key(kind))
    names: set[str] = set()
    for at, gate in enumerate(spec.get("schedulingGates") or []):
        name = gate.get("name", "")
        yield from each_bad(f"{path}.schedulingGates[{at}]", name, label_key(name))
        if name in names:
            yield repeated(f"{path}.schedulingGates[{at}]", name)
        names.add(name)
