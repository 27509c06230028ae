"""How boxes look on a cluster: what an operator may set, read from one JSON value (`GREENLOOP_BOX_POD`).

Structured fields have the shape of the Kubernetes field of the same meaning; their contents are the cluster's to judge.
"""

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

# tini reaps what outlives its parent; the runner is a plain copy of k8s/runner in the image. -I: no code from a home,
# the environment or the current directory; -B: nothing compiled is written.
RUNNER_COMMAND = ("tini", "--", "python3", "-I", "-B", "/opt/greenloop/runner")
# without an init: the supervisor has to be process 1 itself, which nobody in its container can end, stop or read
AGENT_COMMAND = ("python3", "-I", "-S", "-B", "/opt/greenloop/runner", "supervise")


class Resources(BaseModel):
    """Kubernetes quantities of one container. CPU has no limit by default: throttling makes builds slow and protects
    nobody."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests: dict[str, str] = Field(default={"cpu": "500m", "memory": "1Gi", "ephemeral-storage": "1Gi"})
    limits: dict[str, str] = Field(default={"memory": "4Gi", "ephemeral-storage": "10Gi"})


# The runner waits most of the time. Its peaks are git's, which unpacks what it fetches and packs what it stores.
RUNNER_RESOURCES = Resources(
    requests={"cpu": "50m", "memory": "128Mi", "ephemeral-storage": "64Mi"},
    limits={"memory": "1Gi", "ephemeral-storage": "1Gi"},
)


class Home(BaseModel):
    """The home volume. An empty `size` means an emptyDir: the home then ends with its pod."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    size: str = Field(default="10Gi", description="Kubernetes quantity; empty: no volume claim.")
    storage_class: str | None = Field(default=None, description="None: the cluster's default class.")
    access_mode: Literal["ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"] = "ReadWriteOnce"
    path: str = "/home/agent"
    keep: bool = Field(default=True, description="Homes outlive the release that made them.")
    ephemeral: bool = Field(default=False, description="A volume of the pod's own, of that class, which ends with it.")


class PodOptions(BaseModel):
    """Frozen options of every box. JSON names are camelCase, as in the chart's values."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    image: str = Field(default="", description="Image of the boxes; `GREENLOOP_BOX_IMAGE`.")
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    image_pull_secrets: list[str] = Field(default=[], description="Names of Secrets in the box namespace.")
    command: list[str] = Field(
        default=list(RUNNER_COMMAND), description="Of the runner's container: an init that reaps, then the runner."
    )
    agent_command: list[str] = Field(
        default=list(AGENT_COMMAND), description="Of the agent's container, of which it has to be process 1."
    )
    home: Home = Home()
    tmp_size: str = Field(default="4Gi", description="Limit of /tmp, a quantity.")
    resources: Resources = Field(default=Resources(), description="Of the agent's container: of all that a turn runs.")
    runner_resources: Resources = Field(default=RUNNER_RESOURCES, description="Of the runner's container.")
    grace_seconds: int = Field(
        default=30, ge=1, description="Between SIGTERM and SIGKILL: the runner reports in this time."
    )
    deadline_seconds: int | None = Field(
        default=None, ge=1, description="Kubernetes ends a box older than this. None: never."
    )
    user: int | None = Field(
        default=1000, ge=1, description="User and group id of the runner. None: what the platform gives, the agent too."
    )
    agent_user: int | None = Field(
        default=None, ge=1, description="User and group id of the agent, another one. None: the next after `user`."
    )
    fs_group: int | None = Field(
        default=None, ge=1, description="Group of the volumes, which both are in. None: that of `user`."
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

    @model_validator(mode="after")
    def _two_users(self) -> Self:
        if self.user is not None and self.agent_user == self.user:
            raise ValueError(f"agentUser {self.agent_user} is the runner's user too: the agent has to be another one")
        if self.user is None and self.agent_user is not None:
            raise ValueError("agentUser is for a user that is named too: with user null both get the platform's")
        return self

    @property
    def users(self) -> tuple[int, int] | None:
        """User and group ids of runner and agent; None where the platform gives them."""
        return (self.user, self.agent_user or self.user + 1) if self.user is not None else None
