"""How boxes look on a cluster: what an operator may set, read from one JSON value (`GREENLOOP_BOX_POD`).

Structured fields have the shape of the Kubernetes field of the same meaning; their contents are the cluster's to judge.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

# tini reaps what outlives its parent; the runner is a plain copy of k8s/runner in the image.
RUNNER_COMMAND = ("tini", "--", "python3", "/opt/greenloop/runner")


class Resources(BaseModel):
    """Kubernetes quantities. CPU has no limit by default: throttling makes builds slow and protects nobody."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests: dict[str, str] = Field(default={"cpu": "500m", "memory": "1Gi", "ephemeral-storage": "1Gi"})
    limits: dict[str, str] = Field(default={"memory": "4Gi", "ephemeral-storage": "10Gi"})


class Home(BaseModel):
    """The home volume. An empty `size` means an emptyDir: the home then ends with its pod."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    size: str = Field(default="10Gi", description="Kubernetes quantity; empty: no volume claim.")
    storage_class: str | None = Field(default=None, description="None: the cluster's default class.")
    access_mode: Literal["ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"] = "ReadWriteOnce"
    path: str = "/home/agent"
    keep: bool = Field(default=True, description="Homes outlive the release that made them.")


class PodOptions(BaseModel):
    """Frozen options of every box. JSON names are camelCase, as in the chart's values."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    image: str = Field(default="", description="Image of the boxes; `GREENLOOP_BOX_IMAGE`.")
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    image_pull_secrets: list[str] = Field(default=[], description="Names of Secrets in the box namespace.")
    command: list[str] = Field(
        default=list(RUNNER_COMMAND), description="Entry point: an init that reaps, then the runner."
    )
    home: Home = Home()
    tmp_size: str = Field(default="4Gi", description="Limit of /tmp, a quantity.")
    resources: Resources = Resources()
    grace_seconds: int = Field(
        default=30, ge=1, description="Between SIGTERM and SIGKILL: the runner reports in this time."
    )
    deadline_seconds: int | None = Field(
        default=None, ge=1, description="Kubernetes ends a box older than this. None: never."
    )
    user: int | None = Field(
        default=1000, ge=1, description="User and group id of everything in a box. None: what the platform gives."
    )
    host_users: bool | None = Field(
        default=None, description="False: a user namespace of its own, where nodes support it."
    )
    runtime_class: str | None = Field(default=None, description="For example gvisor or kata.")
    priority_class: str | None = None
    service_account: str | None = Field(default=None, description="Its token is never mounted.")
    node_selector: dict[str, str] = {}
    tolerations: list[dict[str, Any]] = []
    affinity: dict[str, Any] = {}
    extra_env: list[dict[str, Any]] = Field(default=[], description="Environment of the runner and of the agents.")
    extra_volumes: list[dict[str, Any]] = []
    extra_volume_mounts: list[dict[str, Any]] = []
    labels: dict[str, str] = Field(default={}, description="Further labels of the pod; ours win.")
    annotations: dict[str, str] = Field(
        default={"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"},
        description="A node that is being emptied waits for the turn instead of losing it.",
    )
