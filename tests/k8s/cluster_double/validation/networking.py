"""Network policies, services and ingresses."""

import ipaddress
import re
from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, denied, each_bad, one_of, repeated, required, unknown
from tests.k8s.cluster_double.validation.metadata import labels, selector
from tests.k8s.cluster_double.validation.names import dns_label, dns_subdomain, port_name, port_number

Object = dict[str, Any]

PROTOCOLS = ("TCP", "UDP", "SCTP")


def network_policy(spec: Object) -> Iterator[str]:
    yield from selector("spec.podSelector", spec.get("podSelector"))
    for way, peers in (("ingress", "from"), ("egress", "to")):
        for at, rule in enumerate(spec.get(way) or []):
            for number, port in enumerate(rule.get("ports") or []):
                yield from _policy_port(f"spec.{way}[{at}].ports[{number}]", port)
            for number, peer in enumerate(rule.get(peers) or []):
                yield from _peer(f"spec.{way}[{at}].{peers}[{number}]", peer)
    for at, kind in enumerate(spec.get("policyTypes") or []):
        if kind not in ("Ingress", "Egress"):
            yield unknown(f"spec.policyTypes[{at}]", kind, ("Ingress", "Egress"))


def _policy_port(path: str, item: Object) -> Iterator[str]:
    yield from one_of(f"{path}.protocol", item.get("protocol"), PROTOCOLS)
    port, end = item.get("port"), item.get("endPort")
    if isinstance(port, int):
        yield from each_bad(f"{path}.port", port, port_number(port))
        if end is not None and end < port:
            yield bad(f"{path}.endPort", port, "must be greater than or equal to `port`")
    elif isinstance(port, str):
        if end is not None:
            yield bad(f"{path}.endPort", end, "may not be specified when `port` is non-numeric")
        yield from each_bad(f"{path}.port", port, port_name(port))
    elif end is not None:
        yield bad(f"{path}.endPort", end, "may not be specified when `port` is not specified")


def _peer(path: str, peer: Object) -> Iterator[str]:
    given = [field for field in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(field) is not None]
    for field in given:
        if field == "ipBlock":
            yield from _block(f"{path}.ipBlock", peer["ipBlock"])
        else:
            yield from selector(f"{path}.{field}", peer[field])
    if not given:
        yield required(path, "must specify a peer")
    elif len(given) > 1 and "ipBlock" in given:
        yield denied(path, "may not specify both ipBlock and another peer")


def _block(path: str, block: Object) -> Iterator[str]:
    whole = block.get("cidr", "")
    if not whole:
        yield required(f"{path}.cidr")
        return
    yield from each_bad(f"{path}.cidr", whole, cidr(whole))
    outer = _network(whole)
    for at, part in enumerate(block.get("except") or []):
        yield from each_bad(f"{path}.except[{at}]", part, cidr(part))
        inner = _network(part)
        if outer is None or inner is None:
            continue
        if inner.version != outer.version or not (inner.subnet_of(outer) and inner != outer):  # type: ignore[arg-type]
            yield bad(f"{path}.except[{at}]", part, "must be a strict subset of `cidr`")


def cidr(text: str) -> Iterator[str]:
    """What is wrong with a range of addresses. Since 1.36 the odd spellings are refused too."""
    if _network(text) is None:
        yield "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
        return
    address, _, bits = text.partition("/")
    if _leading_zero(address, bits):
        yield "must not have leading 0s in IP or prefix length"
    elif isinstance(found := ipaddress.ip_address(address), ipaddress.IPv6Address) and found.ipv4_mapped:
        yield "must not have an IPv4-mapped IPv6 address"
    elif ipaddress.ip_network(text, strict=False).network_address != found:
        yield "must not have bits set beyond the prefix length"


def _leading_zero(address: str, bits: str) -> bool:
    dotted = "." in address and ":" not in address
    return bool(re.fullmatch(r"0\d+", bits)) or (dotted and any(re.fullmatch(r"0\d+", p) for p in address.split(".")))


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """The range, as Go reads it: an IPv4-mapped one is one of IPv4 addresses."""
    address, slash, bits = text.partition("/")
    if "." in address and ":" not in address:
        address = ".".join(part.lstrip("0") or "0" if part.isdigit() else part for part in address.split("."))
    try:
        found = ipaddress.ip_network(f"{address}/{int(bits)}", strict=False) if slash and bits.isdigit() else None
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Network) and found.prefixlen >= 96 and found.network_address.ipv4_mapped:
        return ipaddress.IPv4Network((found.network_address.ipv4_mapped, found.prefixlen - 96))
    return found


def service(spec: Object) -> Iterator[str]:
    ports = spec.get("ports") or []
    if not ports and spec.get("clusterIP") != "None" and spec.get("type") != "ExternalName":
        yield required("spec.ports")
    names: set[str] = set()
    for at, port in enumerate(ports):
        here, name = f"spec.ports[{at}]", port.get("name", "")
        if not name and len(ports) > 1:
            yield required(f"{here}.name")
        elif name:
            yield from each_bad(f"{here}.name", name, dns_label(name))
            if name in names:
                yield repeated(f"{here}.name", name)
            names.add(name)
        yield from each_bad(f"{here}.port", port.get("port", 0), port_number(port.get("port", 0)))
        yield from one_of(f"{here}.protocol", port.get("protocol"), ("SCTP", "TCP", "UDP"))
        target = port.get("targetPort")
        check = port_name(target) if isinstance(target, str) else port_number(target) if target is not None else ()
        yield from each_bad(f"{here}.targetPort", target, check)
    yield from labels("spec.selector", spec.get("selector") or {})
    kinds = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
    yield from one_of("spec.type", spec.get("type"), kinds)


def ingress(spec: Object) -> Iterator[str]:
    if not spec.get("rules") and not spec.get("defaultBackend"):
        yield bad("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified")
    for at, rule in enumerate(spec.get("rules") or []):
        if host := rule.get("host"):
            yield from each_bad(f"spec.rules[{at}].host", host, dns_subdomain(host.removeprefix("*.")))
        for number, item in enumerate((rule.get("http") or {}).get("paths") or []):
            yield from _ingress_path(f"spec.rules[{at}].http.paths[{number}]", item)
    if spec.get("ingressClassName"):
        name = spec["ingressClassName"]
        yield from each_bad("spec.ingressClassName", name, dns_subdomain(name))


def _ingress_path(path: str, item: Object) -> Iterator[str]:
    kind, where = item.get("pathType"), item.get("path", "")
    if kind is None:
        yield required(f"{path}.pathType", "pathType must be specified")
        return
    yield from one_of(f"{path}.pathType", kind, ("Exact", "ImplementationSpecific", "Prefix"))
    if kind in ("Exact", "Prefix") and not where.startswith("/"):
        yield bad(f"{path}.path", where, "must be an absolute path")
    backend = (item.get("backend") or {}).get("service") or {}
    if not backend.get("name"):
        yield required(f"{path}.backend.service.name")
    port = backend.get("port") or {}
    if port.get("name"):
        yield from each_bad(f"{path}.backend.service.port.name", port["name"], port_name(port["name"]))
    elif port.get("number"):
        yield from each_bad(f"{path}.backend.service.port.number", port["number"], port_number(port["number"]))
    else:
        yield required(f"{path}.backend", "port name or number is required")
