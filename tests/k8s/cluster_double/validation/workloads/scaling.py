"""What scales workloads and protects them."""

import json
from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, denied, each_bad, named, one_of, required, unknown
from tests.k8s.cluster_double.validation.metadata import selector
from tests.k8s.cluster_double.validation.names import path_segment
from tests.k8s.cluster_double.validation.quantities import quantity
from tests.k8s.cluster_double.validation.workloads.numbers import amount

Object = dict[str, Any]

# Each kind of metric, and the field that says more; the first field that is there is looked at.
METRICS = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
TARGETS = ("Utilization", "Value", "AverageValue")
WINDOW_SECONDS = 3600
PERIOD_SECONDS = 1800


def autoscaler(spec: Object) -> Iterator[str]:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    least = 1 if least is None else least
    if least < 1:
        yield bad("spec.minReplicas", least, "must be greater than or equal to 1")
    if most == 0:
        yield required("spec.maxReplicas", "must be set and greater than 0")
    elif most < 0:
        yield bad("spec.maxReplicas", most, "must be greater than or equal to 1")
    if most < least:
        yield bad("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    target = spec.get("scaleTargetRef") or {}
    for field in ("kind", "name"):
        yield from named(f"spec.scaleTargetRef.{field}", target.get(field), path_segment)
    version = target.get("apiVersion") or ""
    if version.count("/") > 1:
        yield bad("spec.scaleTargetRef.apiVersion", version, f"unexpected GroupVersion string: {version}")
    elif "/" not in version and version != "v1":
        yield bad("spec.scaleTargetRef.apiVersion", version, "apiVersion must specify API group")
    metrics = spec.get("metrics") or []
    for at, metric in enumerate(metrics):
        yield from _metric(f"spec.metrics[{at}]", metric)
    if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        words = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield denied("spec.metrics", words)
    for way in ("scaleUp", "scaleDown"):
        if (spec.get("behavior") or {}).get(way) is not None:
            yield from _behaviour(f"spec.behavior.{way}", spec["behavior"][way])


def _metric(path: str, metric: Object) -> Iterator[str]:
    kind = metric.get("type") or ""
    if not kind:
        yield required(f"{path}.type", "must specify a metric source type")
    given = [field for field in METRICS.values() if metric.get(field) is not None]
    for field in given[:1]:
        yield from _source(f"{path}.{field}", field, metric[field])
    wanted = METRICS.get(kind)
    if wanted is None:
        yield unknown(f"{path}.type", kind, sorted(METRICS))
    elif wanted not in given:
        yield required(f"{path}.{wanted}", "must populate information for the given metric source")
    if len(given) != 1:
        for field in given:
            if field != wanted:
                yield denied(f"{path}.{field}", "must populate the given metric source only")


def _source(path: str, field: str, source: Object) -> Iterator[str]:
    target = source.get("target") or {}
    if field in ("resource", "containerResource"):
        if not source.get("name"):
            yield required(f"{path}.name", "must specify a resource name")
        if field == "containerResource" and not source.get("container"):
            yield required(f"{path}.container", "must specify a container")
    else:
        name = (source.get("metric") or {}).get("name") or ""
        if not name:
            yield required(f"{path}.metric.name", "must specify a metric name")
        yield from each_bad(f"{path}.metric.name", name, path_segment(name))
    yield from _target(f"{path}.target", target)
    value, average, share = (target.get(each) for each in ("value", "averageValue", "averageUtilization"))
    if field in ("resource", "containerResource") and average is None and share is None:
        words = "must set either a target raw value or a target utilization"
        yield required(f"{path}.target.averageUtilization", words)
    elif field in ("resource", "containerResource") and None not in (average, share):
        words = "may not set both a target raw value and a target utilization"
        yield denied(f"{path}.target.averageValue", words)
    elif field == "pods" and average is None:
        yield required(f"{path}.target.averageValue", "must specify a positive target averageValue")
    elif field in ("external", "object") and value is None and average is None:
        words = "must set either a target value for metric or a per-pod target"
        yield required(f"{path}.target.averageValue", words)


def _target(path: str, target: Object) -> Iterator[str]:
    kind = target.get("type") or ""
    if not kind:
        yield required(f"{path}.type", "must specify a metric target type")
    if kind not in TARGETS:
        yield bad(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue")
    for field in ("value", "averageValue"):
        if target.get(field) is not None and quantity(target[field]) <= 0:
            yield bad(f"{path}.{field}", str(target[field]), "must be positive")
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        yield bad(f"{path}.averageUtilization", share, "must be greater than 0")


def _behaviour(path: str, rules: Object) -> Iterator[str]:
    window = rules.get("stabilizationWindowSeconds")
    if window is not None and window < 0:
        yield bad(f"{path}.stabilizationWindowSeconds", window, "must be greater than or equal to zero")
    elif window is not None and window > WINDOW_SECONDS:
        yield bad(f"{path}.stabilizationWindowSeconds", window, f"must be less than or equal to {WINDOW_SECONDS}")
    yield from one_of(f"{path}.selectPolicy", rules.get("selectPolicy"), ("Disabled", "Max", "Min"))
    if rules.get("policies") == []:
        yield required(f"{path}.policies", "must specify at least one Policy")
    for at, policy in enumerate(rules.get("policies") or []):
        here, seconds = f"{path}.policies[{at}]", policy.get("periodSeconds") or 0
        yield from one_of(f"{here}.type", policy.get("type"), ("Percent", "Pods"))
        if (policy.get("value") or 0) <= 0:
            yield bad(f"{here}.value", policy.get("value") or 0, "must be greater than zero")
        if seconds <= 0:
            yield bad(f"{here}.periodSeconds", seconds, "must be greater than zero")
        elif seconds > PERIOD_SECONDS:
            yield bad(f"{here}.periodSeconds", seconds, f"must be less than or equal to {PERIOD_SECONDS}")


def disruption_budget(spec: Object) -> Iterator[str]:
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        yield f"spec: Invalid value: {_budget(spec)}: minAvailable and maxUnavailable cannot be both set"
    for field in ("minAvailable", "maxUnavailable"):
        if spec.get(field) is not None:
            yield from amount(f"spec.{field}", spec[field], most_percent=100)
    yield from selector("spec.selector", spec.get("selector"))
    evicted = ("AlwaysAllow", "IfHealthyBudget")
    yield from one_of("spec.unhealthyPodEvictionPolicy", spec.get("unhealthyPodEvictionPolicy"), evicted)


def _budget(spec: Object) -> str:
    """The value as Go prints the whole spec."""
    fields = ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy")
    return json.dumps({field[0].upper() + field[1:]: spec.get(field) for field in fields}, separators=(",", ":"))
