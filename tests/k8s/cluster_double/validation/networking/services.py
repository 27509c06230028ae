"""Services. The cluster has IPv4 alone."""

import ipaddress
from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.addresses import cidr, external, ip
from tests.k8s.cluster_double.validation.causes import (
    bad,
    denied,
    each_bad,
    named,
    one_of,
    repeated,
    required,
)
from tests.k8s.cluster_double.validation.metadata import labels
from tests.k8s.cluster_double.validation.names import dns_label, dns_subdomain, label_key, port, port_number

Object = dict[str, Any]

KINDS = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
NEAR = ("PreferClose", "PreferSameZone", "PreferSameNode")
NODE_PORTS = (30000, 32767)
AFFINITY_SECONDS = 86400
ONLY_BALANCERS = "may only be used when `type` is 'LoadBalancer'"


def service(spec: Object) -> Iterator[str]:
    kind = spec.get("type") or "ClusterIP"
    ports = spec.get("ports") or []
    if not ports and spec.get("clusterIP") != "None" and kind != "ExternalName":
        yield required("spec.ports")
    yield from _addresses(spec, kind)
    yield from _ports(ports, kind)
    yield from labels("spec.selector", spec.get("selector") or {})
    yield from one_of("spec.sessionAffinity", spec.get("sessionAffinity"), ("ClientIP", "None"))
    seconds = ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds")
    if spec.get("sessionAffinity") == "ClientIP" and seconds is not None and not 0 < seconds <= AFFINITY_SECONDS:
        here = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
        yield bad(here, seconds, f"must be greater than 0 and less than {AFFINITY_SECONDS}")
    yield from one_of("spec.type", kind, KINDS)
    yield from _families(spec)
    yield from _traffic(spec, kind)


def _addresses(spec: Object, kind: str) -> Iterator[str]:
    first, all_of_them = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    given = [first] if first and not all_of_them else all_of_them
    if kind == "ExternalName":
        if given:
            yield denied("spec.clusterIPs", "may not be set for ExternalName services")
        yield from named("spec.externalName", (spec.get("externalName") or "").removesuffix("."), dns_subdomain)
    elif all_of_them and not first:
        yield bad("spec.clusterIPs", all_of_them, "must be empty when `clusterIP` is not specified")
    elif given and given[0] == "None":
        if kind in ("NodePort", "LoadBalancer"):
            yield bad("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    else:
        for at, each in enumerate(given):
            yield from each_bad(f"spec.clusterIPs[{at}]", each, ip(each))
    for at, each in enumerate(spec.get("externalIPs") or []):
        yield from each_bad(f"spec.externalIPs[{at}]", each, external(each))


def allocated(spec: Object, network: ipaddress.IPv4Network, *, dry: bool) -> Iterator[str]:
    """What the cluster cannot give, of what is asked for by number. In a trial run no port of nodes is taken."""
    wanted = spec.get("clusterIP") or "None"
    if wanted != "None" and ipaddress.ip_address(wanted) not in network:
        words = f"failed to allocate IP {wanted}: the provided IP ({wanted}) is not in the valid range. The range of "
        yield bad("spec.clusterIPs", [wanted], f"{words}valid IPs is {network}")
    least, most = NODE_PORTS
    for at, item in enumerate([] if dry else spec.get("ports") or []):
        if item.get("nodePort") and not least <= item["nodePort"] <= most:
            words = f"provided port is not in the valid range. The range of valid ports is {least}-{most}"
            yield bad(f"spec.ports[{at}].nodePort", item["nodePort"], words)


def _ports(ports: list[Object], kind: str) -> Iterator[str]:
    names: set[str] = set()
    for at, item in enumerate(ports):
        here, name = f"spec.ports[{at}]", item.get("name", "")
        if not name and len(ports) > 1:
            yield required(f"{here}.name")
        elif name:
            yield from each_bad(f"{here}.name", name, dns_label(name))
            if name in names:
                yield repeated(f"{here}.name", name)
            names.add(name)
        yield from each_bad(f"{here}.port", item.get("port") or 0, port_number(item.get("port") or 0))
        yield from one_of(f"{here}.protocol", item.get("protocol"), ("SCTP", "TCP", "UDP"))
        if target := item.get("targetPort"):
            yield from each_bad(f"{here}.targetPort", target, port(target))
        if item.get("appProtocol") is not None:
            yield from each_bad(f"{here}.appProtocol", item["appProtocol"], label_key(item["appProtocol"]))
    for at, item in enumerate(ports):
        if kind == "ClusterIP" and item.get("nodePort"):
            yield denied(f"spec.ports[{at}].nodePort", "may not be used when `type` is 'ClusterIP'")
    seen: set[tuple[str, int]] = set()
    for at, item in enumerate(ports):
        protocol, number = item.get("protocol") or "TCP", item.get("port") or 0
        if (protocol, number) in seen:
            fields = {"Name": "", "Protocol": protocol, "AppProtocol": None, "Port": number}
            yield repeated(f"spec.ports[{at}]", {**fields, "TargetPort": 0, "NodePort": 0})
        seen.add((protocol, number))


def _families(spec: Object) -> Iterator[str]:
    for at, family in enumerate(spec.get("ipFamilies") or []):
        if family == "IPv6":
            yield bad(f"spec.ipFamilies[{at}]", family, "not configured on this cluster")
        else:
            yield from one_of(f"spec.ipFamilies[{at}]", family, ("IPv4", "IPv6"))
    policy = spec.get("ipFamilyPolicy")
    yield from one_of("spec.ipFamilyPolicy", policy, POLICIES)
    if policy == "RequireDualStack":
        yield bad("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services")


def _traffic(spec: Object, kind: str) -> Iterator[str]:
    ranges = spec.get("loadBalancerSourceRanges") or []
    if ranges and kind != "LoadBalancer":
        yield denied("spec.LoadBalancerSourceRanges", ONLY_BALANCERS)
    else:
        for at, each in enumerate(ranges):
            yield from each_bad(f"spec.LoadBalancerSourceRanges[{at}]", each, cidr(each))
    balancer = spec.get("loadBalancerClass")
    if balancer is not None and kind != "LoadBalancer":
        yield denied("spec.loadBalancerClass", ONLY_BALANCERS)
    elif balancer is not None:
        yield from each_bad("spec.loadBalancerClass", balancer, label_key(balancer))
    outer = spec.get("externalTrafficPolicy")
    if outer and kind == "ClusterIP" and not spec.get("externalIPs"):
        yield bad("spec.externalTrafficPolicy", outer, "may only be set for externally-accessible services")
    else:
        yield from one_of("spec.externalTrafficPolicy", outer, ("Cluster", "Local"))
    if spec.get("allocateLoadBalancerNodePorts") is not None and kind != "LoadBalancer":
        yield denied("spec.allocateLoadBalancerNodePorts", ONLY_BALANCERS)
    if health := spec.get("healthCheckNodePort"):
        yield from each_bad("spec.healthCheckNodePort", health, port_number(health))
    if spec.get("healthCheckNodePort") and (kind != "LoadBalancer" or outer != "Local"):
        words = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        yield bad("spec.healthCheckNodePort", spec["healthCheckNodePort"], words)
    yield from one_of("spec.internalTrafficPolicy", spec.get("internalTrafficPolicy"), ("Cluster", "Local"))
    yield from one_of("spec.trafficDistribution", spec.get("trafficDistribution"), NEAR)
