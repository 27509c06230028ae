"""Which checks each kind gets."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.k8s.cluster_double.objects.errors import invalid
from tests.k8s.cluster_double.objects.resources import Resource
from tests.k8s.cluster_double.validation.configuration import claim, config_map, secret
from tests.k8s.cluster_double.validation.metadata import metadata
from tests.k8s.cluster_double.validation.networking import ingress, network_policy, service
from tests.k8s.cluster_double.validation.pods import pod
from tests.k8s.cluster_double.validation.policies import limit_range, resource_quota, role, role_binding
from tests.k8s.cluster_double.validation.quantities import refuse_unreadable
from tests.k8s.cluster_double.validation.workloads import autoscaler, disruption_budget, job, workload

Object = dict[str, Any]

WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
SPECS: dict[str, Callable[[Object], Iterator[str]]] = {
    "Pod": pod,
    "PersistentVolumeClaim": claim,
    "NetworkPolicy": network_policy,
    "Service": service,
    "Ingress": ingress,
    "Job": job,
    "HorizontalPodAutoscaler": autoscaler,
    "PodDisruptionBudget": disruption_budget,
    "ResourceQuota": resource_quota,
    "LimitRange": limit_range,
}
WHOLE: dict[str, Callable[[Object], Iterator[str]]] = {
    "Secret": secret,
    "ConfigMap": config_map,
    "Role": role,
    "ClusterRole": role,
    "RoleBinding": role_binding,
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
