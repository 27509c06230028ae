"""Ingresses."""

import ipaddress
from collections.abc import Iterable, Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, each_bad, if_named, named, one_of, required
from tests.k8s.cluster_double.validation.names import (
    dns_label,
    dns_subdomain,
    port_name,
    port_number,
    wildcard_subdomain,
)

Object = dict[str, Any]

CLASS = "kubernetes.io/ingress.class"
KINDS = ("Exact", "ImplementationSpecific", "Prefix")
# What no path of a kind that is compared may hold, and how it may not end.
PARTS = ("//", "/./", "/../", "%2f", "%2F")
ENDS = ("/..", "/.")


def ingress(item: Object) -> Iterator[str]:
    spec = item.get("spec") or {}
    annotated, chosen = (item["metadata"].get("annotations") or {}).get(CLASS), spec.get("ingressClassName")
    if annotated and chosen and annotated != chosen:
        yield bad(f"annotations.{CLASS}", annotated, "must match `ingressClassName` when both are specified")
    for at, tls in enumerate(spec.get("tls") or []):
        for number, host in enumerate(tls.get("hosts") or []):
            check = wildcard_subdomain if "*" in host else dns_subdomain
            yield from each_bad(f"spec.tls[{at}].hosts[{number}]", host, check(host))
        yield from if_named(f"spec.tls[{at}].secretName", tls.get("secretName"), dns_subdomain)
    rules = spec.get("rules") or []
    if not rules and not spec.get("defaultBackend"):
        yield bad("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified")
    for at, rule in enumerate(rules):
        if host := rule.get("host"):
            yield from each_bad(f"spec.rules[{at}].host", host, _host(host))
        if rule.get("http") is not None:
            here, paths = f"spec.rules[{at}].http.paths", rule["http"].get("paths") or []
            if not paths:
                yield required(here)
            for number, each in enumerate(paths):
                yield from _path(f"{here}[{number}]", each)
    if spec.get("defaultBackend") is not None:
        yield from _backend("spec.defaultBackend", spec["defaultBackend"])
    if chosen is not None:
        yield from each_bad("spec.ingressClassName", chosen, dns_subdomain(chosen))


def _host(host: str) -> Iterable[str]:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return wildcard_subdomain(host) if "*" in host else dns_subdomain(host)
    return ("must be a DNS name, not an IP address",)


def _path(path: str, item: Object) -> Iterator[str]:
    kind, where = item.get("pathType"), item.get("path") or ""
    here = f"{path}.path"
    if kind is None:
        yield required(f"{path}.pathType", "pathType must be specified")
        return
    if kind in ("Exact", "Prefix"):
        if not where.startswith("/"):
            yield bad(here, where, "must be an absolute path")
        for part in PARTS:
            if part in where:
                yield bad(here, where, f"must not contain '{part}'")
        for end in ENDS:
            if where.endswith(end):
                yield bad(here, where, f"cannot end with '{end}'")
    elif kind == "ImplementationSpecific":
        if where and not where.startswith("/"):
            yield bad(here, where, "must be an absolute path")
    else:
        yield from one_of(f"{path}.pathType", kind, KINDS)
    yield from _backend(f"{path}.backend", item.get("backend") or {})


def _backend(path: str, item: Object) -> Iterator[str]:
    service = item.get("service")
    if item.get("resource") is not None:
        if service is not None:
            yield bad(path, "", "cannot set both resource and service backends")
        return
    if service is None:
        yield bad(path, "", "resource or service backend is required")
        return
    yield from named(f"{path}.service.name", service.get("name"), dns_label)
    port = service.get("port") or {}
    if port.get("name") and port.get("number"):
        yield bad(path, "", "cannot set both port name & port number")
    elif port.get("name"):
        yield from each_bad(f"{path}.service.port.name", port["name"], port_name(port["name"]))
    elif port.get("number"):
        yield from each_bad(f"{path}.service.port.number", port["number"], port_number(port["number"]))
    else:
        yield required(path, "port name or number is required")
