"""The objects of one box as plain dictionaries: the pod, its home and its secret. Values in, values out.

A pod has two containers of the same image, as two users, each with its own processes and its own part of the volumes:

    runner  the token, the whole home, and where it listens for the other one
    agent   of the home `agent`, and `given` to read; where the runner listens, to read, so that nobody else can listen

Every pod passes Pod Security "restricted": https://kubernetes.io/docs/concepts/security/pod-security-standards/
"""

import base64
import hashlib
import json
from typing import Any

from k8s.boxes import BoxSpec
from k8s.identity import AGENT, RUNNER, box_labels, home_name, secret_name
from k8s.options import PodOptions, Resources
from k8s.runner.files import ALSO_PASSED_ON

Object = dict[str, Any]

SPEC = "greenloop/spec"
SOCKET_DIR = "/run/greenloop-agent"  # not below TOKEN_DIR, which is /run/greenloop where /var/run leads to /run
TOKEN_KEY = "token"  # noqa: S105  the key inside the Secret, not a secret
TOKEN_DIR = "/var/run/greenloop"  # noqa: S105  a folder
READ_BY_GROUP = 0o440


def home_claim(instance: str, box: BoxSpec, options: PodOptions) -> Object | None:
    """The box's PersistentVolumeClaim; None where homes end with their pods."""
    if not options.home.size or options.home.ephemeral:
        return None
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": home_name(box.name), "labels": box_labels(instance, box.name, box.labels)},
        "spec": _claim_spec(options),
    }


def _claim_spec(options: PodOptions) -> Object:
    spec: Object = {
        "accessModes": [options.home.access_mode],
        "resources": {"requests": {"storage": options.home.size}},
    }
    if options.home.storage_class is not None:
        spec["storageClassName"] = options.home.storage_class
    return spec


def token_secret(instance: str, box: BoxSpec) -> Object:
    """The Secret that only this box's pod mounts."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {"name": secret_name(box.name), "labels": box_labels(instance, box.name, box.labels)},
        "data": {TOKEN_KEY: base64.b64encode(box.token.encode()).decode()},
    }


def secret_token(secret: Object) -> str:
    """The token in a Secret made by `token_secret`; empty if it holds none."""
    encoded = (secret.get("data") or {}).get(TOKEN_KEY, "")
    return base64.b64decode(encoded).decode()


def box_pod(instance: str, box: BoxSpec, options: PodOptions) -> Object:
    """The pod of one box. Raises ValueError without an image."""
    if not (box.image or options.image):
        raise ValueError("boxes on Kubernetes need an image: set GREENLOOP_BOX_IMAGE")
    spec = _pod_spec(box, options)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": box.name,
            "labels": {**options.labels, **box_labels(instance, box.name, box.labels)},
            "annotations": {**options.annotations, SPEC: spec_hash(spec)},
        },
        "spec": spec,
    }


def spec_hash(spec: Object) -> str:
    """Tells a pod made from other options from one made from these; defaults the API server adds do not matter."""
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]


def is_outdated(pod: Object, wanted: Object) -> bool:
    """Whether `pod` was made from other options than `wanted`, a fresh `box_pod`."""
    return _annotation(pod, SPEC) != _annotation(wanted, SPEC)


def _annotation(pod: Object, key: str) -> str | None:
    value = (pod["metadata"].get("annotations") or {}).get(key)
    return None if value is None else str(value)


def has_agent_container(pod: Object) -> bool:
    """Whether agents have a container of their own in this pod: the former release's had none."""
    return any(container["name"] == AGENT for container in pod["spec"]["containers"])


def _pod_spec(box: BoxSpec, options: PodOptions) -> Object:
    spec: Object = {
        # One pod, one life: what ended is looked at and explained; a fresh pod finds the same home. Nor may one of the
        # two come back alone: an agent that is still alive could pass for the supervisor.
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": options.grace_seconds,
        "securityContext": {
            "runAsNonRoot": True,
            **(_as_user(options.users[0]) if options.users else {}),
            **({"fsGroup": group} if (group := options.fs_group or options.user) else {}),
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_runner(box, options), _agent(box, options)],
        "volumes": [
            _home_volume(box.name, options),
            {"name": "tmp", "emptyDir": {"sizeLimit": options.tmp_size}},
            {"name": "socket", "emptyDir": {"sizeLimit": "1Mi"}},
            {
                "name": "token",
                "secret": {"secretName": secret_name(box.name), "defaultMode": READ_BY_GROUP},
            },
            *options.extra_volumes,
        ],
    }
    optional = {
        "activeDeadlineSeconds": options.deadline_seconds,
        "hostUsers": options.host_users,
        "runtimeClassName": options.runtime_class,
        "priorityClassName": options.priority_class,
        "serviceAccountName": options.service_account,
        "nodeSelector": options.node_selector or None,
        "tolerations": options.tolerations or None,
        "affinity": options.affinity or None,
        "imagePullSecrets": [{"name": secret} for secret in options.image_pull_secrets] or None,
    }
    return spec | {key: value for key, value in optional.items() if value is not None}


def _runner(box: BoxSpec, options: PodOptions) -> Object:
    home = options.home.path
    agent_user = [{"name": "GREENLOOP_AGENT_USER", "value": str(options.users[1])}] if options.users else []
    return {
        **_container(RUNNER, box, options, options.runner_resources),
        "command": list(options.command),
        "workingDir": home,
        "env": [
            *options.extra_env,
            *({"name": key, "value": value} for key, value in sorted(box.env.items())),
            {"name": "HOME", "value": home},
            {"name": "GREENLOOP_SERVICE", "value": box.service_url},
            {"name": "GREENLOOP_BOX", "value": box.name},
            {"name": "GREENLOOP_HOME", "value": home},
            {"name": "GREENLOOP_BOX_TOKEN_FILE", "value": f"{TOKEN_DIR}/{TOKEN_KEY}"},
            {"name": "GREENLOOP_AGENT_SOCKET", "value": f"{SOCKET_DIR}/agent"},
            *agent_user,
            # of its own environment the runner hands on little by itself
            {"name": ALSO_PASSED_ON, "value": ",".join(each["name"] for each in options.extra_env)},
        ],
        "volumeMounts": [
            {"name": "home", "mountPath": home},
            {"name": "tmp", "mountPath": "/tmp", "subPath": RUNNER},  # noqa: S108  a path in the pod
            {"name": "socket", "mountPath": SOCKET_DIR},
            {"name": "token", "mountPath": TOKEN_DIR, "readOnly": True},
            *options.extra_volume_mounts,
        ],
    }


def _agent(box: BoxSpec, options: PodOptions) -> Object:
    home = options.home.path
    made = _container(AGENT, box, options, options.resources)
    if options.users:
        made["securityContext"] |= _as_user(options.users[1])
    return {
        **made,
        # The paths are the runner's: it says where things are. The environment of agents comes from it too.
        "command": [
            *options.agent_command, "--agent", f"{home}/agent", "--given", f"{home}/given",
            "--socket", f"{SOCKET_DIR}/agent",
        ],
        "workingDir": "/",
        "volumeMounts": [
            {"name": "home", "mountPath": f"{home}/agent", "subPath": "agent"},
            {"name": "home", "mountPath": f"{home}/given", "subPath": "given", "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp", "subPath": AGENT},  # noqa: S108  a path in the pod
            {"name": "socket", "mountPath": SOCKET_DIR, "readOnly": True},
            *options.extra_volume_mounts,
        ],
    }  # fmt: skip


def _as_user(number: int) -> Object:
    return {"runAsUser": number, "runAsGroup": number}


def _container(name: str, box: BoxSpec, options: PodOptions, resources: Resources) -> Object:
    return {
        "name": name,
        "image": box.image or options.image,
        "imagePullPolicy": options.image_pull_policy,
        "resources": {"requests": dict(resources.requests), "limits": dict(resources.limits)},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        # The last words of either reach us in the pod's status, so that no right to read logs is needed.
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def _home_volume(name: str, options: PodOptions) -> Object:
    if options.home.size and options.home.ephemeral:
        # The cluster makes its claim, owned by the pod, and names it as we name homes; it carries no label of ours, so
        # that nobody takes it for a home that stays.
        return {"name": "home", "ephemeral": {"volumeClaimTemplate": {"spec": _claim_spec(options)}}}
    if options.home.size:
        return {"name": "home", "persistentVolumeClaim": {"claimName": home_name(name)}}
    # Without a claim the home counts as ephemeral storage, whose limit ends the pod before it fills the node.
    return {"name": "home", "emptyDir": {}}
