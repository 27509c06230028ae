"""Network policies."""

from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.addresses import cidr, network
from tests.k8s.cluster_double.validation.causes import bad, denied, each_bad, one_of, required, unknown
from tests.k8s.cluster_double.validation.metadata import selector
from tests.k8s.cluster_double.validation.names import port_name, port_number

Object = dict[str, Any]

PROTOCOLS = ("TCP", "UDP", "SCTP")
KINDS = ("Ingress", "Egress")


def network_policy(spec: Object) -> Iterator[str]:
    yield from selector("spec.podSelector", spec.get("podSelector"))
    for way, peers in (("ingress", "from"), ("egress", "to")):
        for at, rule in enumerate(spec.get(way) or []):
            for number, port in enumerate(rule.get("ports") or []):
                yield from _port(f"spec.{way}[{at}].ports[{number}]", port)
            for number, peer in enumerate(rule.get(peers) or []):
                yield from _peer(f"spec.{way}[{at}].{peers}[{number}]", peer)
    kinds = spec.get("policyTypes") or []
    if len(kinds) > len(KINDS):
        yield bad("spec.policyTypes", kinds, "may not specify more than two policyTypes")
        return
    for at, kind in enumerate(kinds):
        if kind not in KINDS:
            yield unknown(f"spec.policyTypes[{at}]", kind, KINDS)


def _port(path: str, item: Object) -> Iterator[str]:
    yield from one_of(f"{path}.protocol", item.get("protocol"), PROTOCOLS)
    port, end = item.get("port"), item.get("endPort")
    if isinstance(port, int):
        yield from each_bad(f"{path}.port", port, port_number(port))
        if end is not None:
            if end < port:
                yield bad(f"{path}.endPort", port, "must be greater than or equal to `port`")
            yield from each_bad(f"{path}.endPort", end, port_number(end))
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
    outer = network(whole)
    for at, part in enumerate(block.get("except") or []):
        yield from each_bad(f"{path}.except[{at}]", part, cidr(part))
        inner = network(part)
        if outer is None or inner is None:
            continue
        if inner.version != outer.version or not (inner.subnet_of(outer) and inner != outer):  # type: ignore[arg-type]
            yield bad(f"{path}.except[{at}]", part, "must be a strict subset of `cidr`")
