"""Deployments and their like, jobs, and what scales and protects them."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from tests.k8s.cluster_double.objects.selectors import matches
from tests.k8s.cluster_double.validation.causes import bad, not_negative, one_of, required, unknown
from tests.k8s.cluster_double.validation.metadata import labels, selector
from tests.k8s.cluster_double.validation.names import form
from tests.k8s.cluster_double.validation.pods import pod

Object = dict[str, Any]


def workload(kind: str, spec: Object) -> Iterator[str]:
    """A Deployment, ReplicaSet, StatefulSet or DaemonSet."""
    yield from not_negative("spec.replicas", spec.get("replicas"))
    wanted, template = spec.get("selector"), spec.get("template") or {}
    if wanted is None:
        yield required("spec.selector")
    yield from selector("spec.selector", wanted)
    if wanted is not None and not (wanted.get("matchLabels") or wanted.get("matchExpressions")):
        yield bad("spec.selector", wanted, f"empty selector is invalid for {kind.lower()}")
    given = (template.get("metadata") or {}).get("labels") or {}
    if wanted and not matches(wanted, given):
        yield bad("spec.template.metadata.labels", given or None, "`selector` does not match template `labels`")
    yield from _template(template, [claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates") or []])
    policy = (template.get("spec") or {}).get("restartPolicy")
    if policy not in (None, "Always") and policy in ("OnFailure", "Never"):
        yield unknown("spec.template.spec.restartPolicy", policy, ("Always",))
    if kind == "Deployment":
        yield from one_of("spec.strategy.type", (spec.get("strategy") or {}).get("type"), ("Recreate", "RollingUpdate"))
    yield from not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    yield from not_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))


def job(spec: Object) -> Iterator[str]:
    for field in ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"):
        yield from not_negative(f"spec.{field}", spec.get(field))
    template = spec.get("template") or {}
    yield from _template(template)
    if (template.get("spec") or {}).get("restartPolicy", "Always") == "Always":
        yield required("spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')


def _template(template: Object, claims: Sequence[str] = ()) -> Iterator[str]:
    """A pod's template; `claims` become volumes of it."""
    yield from labels("spec.template.labels", (template.get("metadata") or {}).get("labels") or {})
    spec = template.get("spec") or {}
    made = [{"name": name, "emptyDir": {}} for name in claims]
    yield from pod({**spec, "volumes": [*(spec.get("volumes") or []), *made]}, "spec.template.spec")


def autoscaler(spec: Object) -> Iterator[str]:
    least, most = spec.get("minReplicas", 1), spec.get("maxReplicas", 0)
    if least < 1:
        yield bad("spec.minReplicas", least, "must be greater than or equal to 1")
    if most == 0:
        yield required("spec.maxReplicas", "must be set and greater than 0")
    elif most < 0:
        yield bad("spec.maxReplicas", most, "must be greater than or equal to 1")
    if most < least:
        yield bad("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    for field in ("kind", "name"):
        if not (spec.get("scaleTargetRef") or {}).get(field):
            yield required(f"spec.scaleTargetRef.{field}")


def disruption_budget(spec: Object) -> Iterator[str]:
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        yield f"spec: Invalid value: {_budget(spec)}: minAvailable and maxUnavailable cannot be both set"
    for field in ("minAvailable", "maxUnavailable"):
        value = spec.get(field)
        if isinstance(value, str) and not re.fullmatch(r"[0-9]+%", value):
            words = "a valid percent string must be a numeric string followed by an ending '%'"
            yield bad(f"spec.{field}", value, form(words, "[0-9]+%", "1%", "93%"))
        elif isinstance(value, str) and int(value[:-1]) > 100:
            yield bad(f"spec.{field}", value, "must not be greater than 100%")
        elif isinstance(value, int):
            yield from not_negative(f"spec.{field}", value)
    yield from selector("spec.selector", spec.get("selector"))


def _budget(spec: Object) -> str:
    """The value as Go prints the whole spec."""
    fields = ("minAvailable", "selector", "maxUnavailable")
    return json.dumps({field[0].upper() + field[1:]: spec.get(field) for field in fields}, separators=(",", ":"))
