"""Roles and their bindings."""

from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, each_bad, named, required, unknown
from tests.k8s.cluster_double.validation.metadata import selector
from tests.k8s.cluster_double.validation.names import dns_subdomain, path_segment

Object = dict[str, Any]

RBAC = "rbac.authorization.k8s.io"


def role(item: Object) -> Iterator[str]:
    yield from _rules(item, everywhere=False)


def cluster_role(item: Object) -> Iterator[str]:
    yield from _rules(item, everywhere=True)
    if item.get("aggregationRule") is None:
        return
    selectors, here = item["aggregationRule"].get("clusterRoleSelectors") or [], "aggregationRule.clusterRoleSelectors"
    if not selectors:
        yield required(here, "at least one clusterRoleSelector required if aggregationRule is non-nil")
    for at, each in enumerate(selectors):
        # The value is lost on the way to the words.
        wrong = list(selector(f"{here}[{at}]", each))
        yield from wrong
        if wrong:
            yield bad(f"{here}[{at}]", None, "invalid label selector.")


def _rules(item: Object, *, everywhere: bool) -> Iterator[str]:
    for at, rule in enumerate(item.get("rules") or []):
        here = f"rules[{at}]"
        if not rule.get("verbs"):
            yield required(f"{here}.verbs", "verbs must contain at least one value")
        if urls := rule.get("nonResourceURLs"):
            if not everywhere:
                words = "namespaced rules cannot apply to non-resource URLs"
                yield bad(f"{here}.nonResourceURLs", urls, words)
            if any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
                words = "rules cannot apply to both regular resources and non-resource URLs"
                yield bad(f"{here}.nonResourceURLs", urls, words)
            continue
        if not rule.get("apiGroups"):
            yield required(f"{here}.apiGroups", "resource rules must supply at least one api group")
        if not rule.get("resources"):
            yield required(f"{here}.resources", "resource rules must supply at least one resource")


def role_binding(item: Object) -> Iterator[str]:
    yield from _binding(item, ("Role", "ClusterRole"))


def cluster_role_binding(item: Object) -> Iterator[str]:
    yield from _binding(item, ("ClusterRole",), everywhere=True)


def _binding(item: Object, kinds: tuple[str, ...], *, everywhere: bool = False) -> Iterator[str]:
    reference = item.get("roleRef") or {}
    if reference.get("apiGroup") != RBAC:
        yield unknown("roleRef.apiGroup", reference.get("apiGroup") or "", (RBAC,))
    if reference.get("kind") not in kinds:
        yield unknown("roleRef.kind", reference.get("kind") or "", kinds)
    yield from named("roleRef.name", reference.get("name"), path_segment)
    for at, subject in enumerate(item.get("subjects") or []):
        yield from _subject(f"subjects[{at}]", subject, everywhere=everywhere)


def _subject(path: str, subject: Object, *, everywhere: bool) -> Iterator[str]:
    name, kind = subject.get("name"), subject.get("kind")
    if not name:
        yield required(f"{path}.name")
    if kind == "ServiceAccount":
        if name:
            yield from each_bad(f"{path}.name", name, dns_subdomain(name))
        if subject.get("apiGroup"):
            yield unknown(f"{path}.apiGroup", subject["apiGroup"], ("",))
        if everywhere and not subject.get("namespace"):
            yield required(f"{path}.namespace")
    elif kind in ("User", "Group"):
        if subject.get("apiGroup") not in (None, "", RBAC):
            yield unknown(f"{path}.apiGroup", subject["apiGroup"], (RBAC,))
    else:
        yield unknown(f"{path}.kind", kind or "", ("ServiceAccount", "User", "Group"))
