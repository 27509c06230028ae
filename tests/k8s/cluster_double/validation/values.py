"""Which checks each kind gets."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.k8s.cluster_double.objects.errors import invalid
from tests.k8s.cluster_double.objects.resources import Resource
from tests.k8s.cluster_double.validation.causes import bad, each_bad, not_negative, positive
from tests.k8s.cluster_double.validation.claims import claim
from tests.k8s.cluster_double.validation.configuration import config_map, secret
from tests.k8s.cluster_double.validation.metadata import FINALIZERS, labels, metadata
from tests.k8s.cluster_double.validation.names import label_key
from tests.k8s.cluster_double.validation.networking.ingress import ingress
from tests.k8s.cluster_double.validation.networking.policies import network_policy
from tests.k8s.cluster_double.validation.networking.services import service
from tests.k8s.cluster_double.validation.pods.containers import whole_image_names
from tests.k8s.cluster_double.validation.pods.pod import pod
from tests.k8s.cluster_double.validation.quantities import refuse_unreadable
from tests.k8s.cluster_double.validation.quotas import limit_range, resource_quota
from tests.k8s.cluster_double.validation.rbac import cluster_role, cluster_role_binding, role, role_binding
from tests.k8s.cluster_double.validation.workloads.jobs import cron_job, job, labelled
from tests.k8s.cluster_double.validation.workloads.scaling import autoscaler, disruption_budget
from tests.k8s.cluster_double.validation.workloads.workloads import workload

Object = dict[str, Any]

LABEL_CHARACTERS = 63
LEVELS = ("privileged", "baseline", "restricted")
SECURITY = "pod-security.kubernetes.io/"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
PROFILES = ("runtime/default", "unconfined", "")


def _pod(item: Object) -> Iterator[str]:
    for key, value in (item["metadata"].get("annotations") or {}).items():
        if key.startswith(APP_ARMOR) and value not in PROFILES and not value.startswith("localhost/"):
            yield bad(f"metadata.annotations[{key}]", value, f'invalid AppArmor profile name: "{value}"')
    yield from pod(item.get("spec") or {})
    yield from whole_image_names("spec", item.get("spec") or {})


def _job(item: Object) -> Iterator[str]:
    name = item["metadata"].get("name") or ""
    yield from labelled(item.get("spec") or {})
    if len(name) > LABEL_CHARACTERS:
        yield bad("spec.template.labels", name, f"must be no more than {LABEL_CHARACTERS} bytes")
    yield from job(item.get("spec") or {})


def _namespace(item: Object) -> Iterator[str]:
    # its name becomes a label of it
    yield from labels("metadata.labels", {"kubernetes.io/metadata.name": item["metadata"].get("name") or ""})
    for mode in ("enforce", "audit", "warn"):
        given = item["metadata"].get("labels") or {}
        level, version = given.get(f"{SECURITY}{mode}"), given.get(f"{SECURITY}{mode}-version")
        if level is not None and level not in LEVELS:
            yield bad(f"metadata.labels[{SECURITY}{mode}]", level, f"must be one of {', '.join(LEVELS)}")
        if version is not None and not re.fullmatch(r"latest|v1\.(0|[1-9][0-9]*)", version):
            yield bad(f"metadata.labels[{SECURITY}{mode}-version]", version, 'must be "latest" or "v1.x"')
    for each in (item.get("spec") or {}).get("finalizers") or []:
        yield from each_bad("spec.finalizers", each, label_key(each))
        if "/" not in each and each not in FINALIZERS:
            yield bad("spec.finalizers", each, "name is neither a standard finalizer name nor is it fully qualified")


def _lease(item: Object) -> Iterator[str]:
    spec = item.get("spec") or {}
    yield from positive("spec.leaseDurationSeconds", spec.get("leaseDurationSeconds"))
    yield from not_negative("spec.leaseTransitions", spec.get("leaseTransitions"))


WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
SPECS: dict[str, Callable[[Object], Iterator[str]]] = {
    "PersistentVolumeClaim": claim,
    "NetworkPolicy": network_policy,
    "Service": service,
    "CronJob": cron_job,
    "HorizontalPodAutoscaler": autoscaler,
    "PodDisruptionBudget": disruption_budget,
    "ResourceQuota": resource_quota,
    "LimitRange": limit_range,
}
WHOLE: dict[str, Callable[[Object], Iterator[str]]] = {
    "Secret": secret,
    "ConfigMap": config_map,
    "Role": role,
    "ClusterRole": cluster_role,
    "RoleBinding": role_binding,
    "ClusterRoleBinding": cluster_role_binding,
    "Ingress": ingress,
    "Namespace": _namespace,
    "Lease": _lease,
    "Pod": _pod,
    "Job": _job,
}


def check_values(resource: Resource, item: Object) -> None:
    """Raises Refused: 400 for what cannot be read, 422 for names, values and references that Kubernetes refuses."""
    refuse_unreadable(resource, item)
    causes = [*metadata(resource, item["metadata"]), *_kind(resource.kind, item)]
    if causes:
        raise invalid(resource, str(item["metadata"].get("name", "")), causes)


def _kind(kind: str, item: Object) -> Iterator[str]:
    if kind in WORKLOADS:
        yield from workload(kind, item.get("spec") or {})
    elif kind in SPECS:
        yield from SPECS[kind](item.get("spec") or {})
    elif kind in WHOLE:
        yield from WHOLE[kind](item)
