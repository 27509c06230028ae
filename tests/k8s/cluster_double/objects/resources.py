"""The resource types this server knows. Only some of them do anything; the rest is stored, so that Helm can install."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Resource:
    """One resource type: `/apis/<group>/<version>/namespaces/<ns>/<plural>`."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    short: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """How messages name the type: `pods`, `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


RBAC = "rbac.authorization.k8s.io"
NETWORKING = "networking.k8s.io"

RESOURCES = (
    Resource("", "v1", "Namespace", "namespaces", namespaced=False, short=("ns",)),
    Resource("", "v1", "Node", "nodes", namespaced=False, short=("no",)),
    Resource("", "v1", "Pod", "pods", short=("po",)),
    Resource("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", short=("pvc",)),
    Resource("", "v1", "Secret", "secrets"),
    Resource("", "v1", "ConfigMap", "configmaps", short=("cm",)),
    Resource("", "v1", "Event", "events", short=("ev",)),
    Resource("", "v1", "Service", "services", short=("svc",)),
    Resource("", "v1", "ServiceAccount", "serviceaccounts", short=("sa",)),
    Resource("", "v1", "ResourceQuota", "resourcequotas", short=("quota",)),
    Resource("", "v1", "LimitRange", "limitranges", short=("limits",)),
    Resource("apps", "v1", "Deployment", "deployments", short=("deploy",)),
    Resource("apps", "v1", "StatefulSet", "statefulsets", short=("sts",)),
    Resource("apps", "v1", "DaemonSet", "daemonsets", short=("ds",)),
    Resource("apps", "v1", "ReplicaSet", "replicasets", short=("rs",)),
    Resource("batch", "v1", "Job", "jobs"),
    Resource("batch", "v1", "CronJob", "cronjobs", short=("cj",)),
    Resource("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", short=("hpa",)),
    Resource("coordination.k8s.io", "v1", "Lease", "leases"),
    Resource("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", short=("pdb",)),
    Resource(NETWORKING, "v1", "NetworkPolicy", "networkpolicies", short=("netpol",)),
    Resource(NETWORKING, "v1", "Ingress", "ingresses", short=("ing",)),
    Resource(RBAC, "v1", "Role", "roles"),
    Resource(RBAC, "v1", "RoleBinding", "rolebindings"),
    Resource(RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False),
    Resource(RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
    Resource("gateway.networking.k8s.io", "v1", "HTTPRoute", "httproutes"),
    Resource("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors"),
    Resource("monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules"),
)

BY_PATH = {(resource.group, resource.version, resource.plural): resource for resource in RESOURCES}
BY_KIND = {resource.kind: resource for resource in RESOURCES}


def groups() -> dict[str, list[str]]:
    """The named groups with their versions, in order."""
    found: dict[str, list[str]] = {}
    for resource in RESOURCES:
        if resource.group and resource.version not in found.setdefault(resource.group, []):
            found[resource.group].append(resource.version)
    return found
