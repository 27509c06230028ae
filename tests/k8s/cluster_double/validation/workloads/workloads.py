"""Deployments and their like."""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.k8s.cluster_double.objects.selectors import matches
from tests.k8s.cluster_double.validation.causes import (
    bad,
    denied,
    if_named,
    not_negative,
    one_of,
    required,
    unknown,
)
from tests.k8s.cluster_double.validation.claims import claim
from tests.k8s.cluster_double.validation.metadata import annotations, labels, selector
from tests.k8s.cluster_double.validation.names import dns_label
from tests.k8s.cluster_double.validation.pods.pod import pod
from tests.k8s.cluster_double.validation.workloads.numbers import amount, is_nothing

Object = dict[str, Any]

# Whose pods they take themselves for, in what they say.
TOLD = {"Deployment": "ReplicaSet"}
RETENTION = ("Retain", "Delete")


def workload(kind: str, spec: Object) -> Iterator[str]:
    """A Deployment, ReplicaSet, StatefulSet or DaemonSet."""
    yield from not_negative("spec.replicas", spec.get("replicas"))
    yield from _strategy(kind, spec)
    yield from _selector(kind, spec)
    template = spec.get("template") or {}
    claims = spec.get("volumeClaimTemplates") or []
    yield from pod_template(template, "spec.template", [each["metadata"]["name"] for each in claims])
    for at, each in enumerate(claims):
        yield from claim(each.get("spec") or {}, f"spec.volumeClaimTemplates[{at}].spec")
    inner = template.get("spec") or {}
    if inner.get("restartPolicy") not in (None, "", "Always"):
        yield unknown("spec.template.spec.restartPolicy", inner["restartPolicy"], ("Always",))
    if inner.get("activeDeadlineSeconds") is not None:
        words = f"activeDeadlineSeconds in {TOLD.get(kind, kind)} is not Supported"
        yield denied("spec.template.spec.activeDeadlineSeconds", words)
    yield from not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    if kind != "StatefulSet":
        yield from not_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))


def _selector(kind: str, spec: Object) -> Iterator[str]:
    wanted, template = spec.get("selector"), spec.get("template") or {}
    if wanted is None and kind != "DaemonSet":
        yield required("spec.selector")
    wrong = list(selector("spec.selector", wanted))
    yield from wrong
    if wanted is not None and not (wanted.get("matchLabels") or wanted.get("matchExpressions")):
        said = "deployment" if kind == "ReplicaSet" else kind.lower()
        yield bad("spec.selector", wanted, f"empty selector is invalid for {said}")
    if wrong:
        if kind in ("Deployment", "ReplicaSet"):
            yield bad("spec.selector", wanted, "invalid label selector")
        elif kind == "StatefulSet":
            yield bad("spec.selector", wanted, "").removesuffix(": ")
        return
    given = (template.get("metadata") or {}).get("labels") or {}
    if wanted is None or (wanted and not matches(wanted, given)):
        yield bad("spec.template.metadata.labels", given or None, "`selector` does not match template `labels`")


def pod_template(template: Object, path: str, claims: Sequence[str] = ()) -> Iterator[str]:
    """A pod's template; `claims` become volumes of it."""
    given = template.get("metadata") or {}
    yield from labels(f"{path}.labels", given.get("labels") or {})
    yield from annotations(f"{path}.annotations", given.get("annotations") or {})
    spec = template.get("spec") or {}
    made = [{"name": name, "emptyDir": {}} for name in claims]
    yield from pod({**spec, "volumes": [*(spec.get("volumes") or []), *made]}, f"{path}.spec")


def _strategy(kind: str, spec: Object) -> Iterator[str]:
    if kind == "Deployment":
        yield from _deployment(spec)
    elif kind == "StatefulSet":
        yield from _stateful_set(spec)
    elif kind == "DaemonSet":
        yield from _daemon_set(spec.get("updateStrategy") or {})


def _deployment(spec: Object) -> Iterator[str]:
    strategy = spec.get("strategy") or {}
    way, rolling, here = strategy.get("type") or "RollingUpdate", strategy.get("rollingUpdate"), "spec.strategy"
    if way == "Recreate" and rolling is not None:
        yield denied(f"{here}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
    elif way == "RollingUpdate":
        more, fewer = ((rolling or {}).get(field, "25%") for field in ("maxSurge", "maxUnavailable"))
        yield from amount(f"{here}.rollingUpdate.maxUnavailable", fewer, most_percent=100)
        yield from amount(f"{here}.rollingUpdate.maxSurge", more)
        if is_nothing(more) and is_nothing(fewer):
            yield bad(f"{here}.rollingUpdate.maxUnavailable", fewer, "may not be 0 when `maxSurge` is 0")
    elif way != "Recreate":
        yield unknown(here, {"Type": way, "RollingUpdate": None}, ("Recreate", "RollingUpdate"))
    deadline = spec.get("progressDeadlineSeconds")
    yield from not_negative("spec.progressDeadlineSeconds", deadline)
    if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
        yield bad("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def _stateful_set(spec: Object) -> Iterator[str]:
    managed = spec.get("podManagementPolicy")
    if managed not in (None, "", "OrderedReady", "Parallel"):
        yield bad("spec.podManagementPolicy", managed, "must be 'OrderedReady' or 'Parallel'")
    strategy, here = spec.get("updateStrategy") or {}, "spec.updateStrategy"
    way, rolling = strategy.get("type") or "RollingUpdate", strategy.get("rollingUpdate")
    if way == "OnDelete" and rolling is not None:
        value = {"Partition": rolling.get("partition", 0), "MaxUnavailable": rolling.get("maxUnavailable")}
        yield bad(f"{here}.rollingUpdate", value, "only allowed for updateStrategy 'RollingUpdate'")
    elif way == "RollingUpdate":
        yield from not_negative(f"{here}.rollingUpdate.partition", (rolling or {}).get("partition"))
    elif way != "OnDelete":
        yield bad(here, {"Type": way, "RollingUpdate": None}, "must be 'RollingUpdate' or 'OnDelete'")
    yield from not_negative("spec.ordinals.start", (spec.get("ordinals") or {}).get("start"))
    kept = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for field in ("whenDeleted", "whenScaled"):
        yield from one_of(f"spec.persistentVolumeClaimRetentionPolicy.{field}", kept.get(field), RETENTION)
    yield from if_named("spec.serviceName", spec.get("serviceName"), dns_label)


def _daemon_set(strategy: Object) -> Iterator[str]:
    here, way, rolling = "spec.updateStrategy", strategy.get("type") or "RollingUpdate", strategy.get("rollingUpdate")
    if way == "RollingUpdate":
        more, fewer = (rolling or {}).get("maxSurge", 0), (rolling or {}).get("maxUnavailable", 1)
        yield from amount(f"{here}.rollingUpdate.maxUnavailable", fewer, most_percent=100)
        yield from amount(f"{here}.rollingUpdate.maxSurge", more, most_percent=100)
        if is_nothing(more) and is_nothing(fewer):
            yield required(f"{here}.rollingUpdate.maxUnavailable", "cannot be 0 when maxSurge is 0")
        elif not is_nothing(more) and not is_nothing(fewer):
            yield bad(f"{here}.rollingUpdate.maxSurge", more, "may not be set when maxUnavailable is non-zero")
    elif way != "OnDelete":
        yield unknown(here, {"Type": way, "RollingUpdate": None}, ("RollingUpdate", "OnDelete"))
