"""A valid object of each kind, and how a row of the table changes it."""

import copy
import itertools
from typing import Any

Object = dict[str, Any]

CONTEXT = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
CONTAINER = {"name": "main", "image": "registry.example/box:1", "securityContext": CONTEXT}
TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [CONTAINER]}}
SELECTOR = {"matchLabels": {"app": "x"}}
JOB = {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}}}
RBAC = "rbac.authorization.k8s.io"
RULES = {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}
SUBJECTS = [{"kind": "ServiceAccount", "name": "x", "namespace": "x"}]
STORAGE = {"requests": {"storage": "1Gi"}}

BODIES: dict[str, Object] = {
    "Pod": {"spec": {"containers": [CONTAINER]}},
    "ConfigMap": {"data": {"a": "b"}},
    "Secret": {"data": {"a": "YQ=="}},
    "PersistentVolumeClaim": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": STORAGE}},
    "Service": {"spec": {"selector": {"app": "x"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]}},
    "NetworkPolicy": {
        "spec": {"podSelector": {}, "policyTypes": ["Egress"], "egress": [{"to": [{"podSelector": {}}]}]}
    },
    "Ingress": {
        "spec": {
            "rules": [
                {
                    "host": "example.com",
                    "http": {
                        "paths": [
                            {
                                "path": "/",
                                "pathType": "Prefix",
                                "backend": {"service": {"name": "x", "port": {"name": "http"}}},
                            }
                        ]
                    },
                }
            ]
        }
    },
    "Deployment": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "StatefulSet": {"spec": {"serviceName": "x", "selector": SELECTOR, "template": TEMPLATE}},
    "DaemonSet": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "ReplicaSet": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "Job": JOB,
    "CronJob": {"spec": {"schedule": "* * * * *", "jobTemplate": JOB}},
    "HorizontalPodAutoscaler": {
        "spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}}
    },
    "PodDisruptionBudget": {"spec": {"selector": SELECTOR, "maxUnavailable": 1}},
    "ResourceQuota": {"spec": {"hard": {"pods": "1"}}},
    "LimitRange": {"spec": {"limits": [{"type": "Container", "default": {"memory": "64Mi"}}]}},
    "Role": RULES,
    "ClusterRole": RULES,
    "RoleBinding": {"roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "x"}, "subjects": SUBJECTS},
    "ClusterRoleBinding": {"roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "x"}, "subjects": SUBJECTS},
    "ServiceAccount": {},
    "Lease": {"spec": {"holderIdentity": "x"}},
    "Namespace": {},
}

GONE = object()
"""In place of a value: the field is left out."""


def body(kind: str, api_version: str, changes: Object | None = None, name: str = "x") -> Object:
    """The valid object of this kind, with `changes`."""
    made: Object = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **BODIES[kind]}
    return changed(made, changes or {})


def changed(item: Object, changes: Object) -> Object:
    """A copy with other values: by their paths, whose steps are fields and places in lists."""
    made: Object = copy.deepcopy(item)
    for path, value in changes.items():
        steps: list[Any] = [int(step) if step.isdigit() else step for step in path.split("/")]
        target: Any = made
        for step, after in itertools.pairwise(steps):
            if isinstance(target, dict) and step not in target:
                target[step] = [{}] if isinstance(after, int) else {}
            target = target[step]
        if value is GONE:
            del target[steps[-1]]
        elif isinstance(target, list) and steps[-1] == len(target):
            target.append(value)
        else:
            target[steps[-1]] = value
    return made
