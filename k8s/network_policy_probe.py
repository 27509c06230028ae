"""Whether boxes are kept to where they may go: the network policies that are there, and a box that tries the rest.

A NetworkPolicy that no network plugin enforces is accepted all the same, so only trying tells.
"""

import asyncio
import inspect
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from k8s import connecting
from k8s.boxes import BoxSpec
from k8s.cluster import Cluster
from k8s.identity import RUNNER, instance_labels
from k8s.options import Home, PodOptions, Resources
from k8s.pod import box_pod

Object = dict[str, Any]

POLICY = "NetworkPolicy"
POLICY_RIGHT = ("list", "networking.k8s.io", "networkpolicies")
SETTLE_SECONDS = 5
"""Some plugins leave a pod open for its first seconds."""
PAUSE = 0.5
OF_BOXES = ("token", "socket")
"""Volumes of a box that a pod which only tries has no use for."""

PROTOCOLS = ("IPv4", "IPv6")


@dataclass(frozen=True)
class Tried:
    """What a box found: of each place, by protocol, why it takes no connection, which is empty where it does.

    A protocol in which a place has no address is not there. `status` is what the service answered a request with, 0
    where it did not, or was not asked.
    """

    places: Mapping[str, Mapping[str, str]]
    status: int = 0

    def by(self, place: str) -> list[str]:
        """The protocols by which the place is reached."""
        return [protocol for protocol, why in self.places[place].items() if not why]

    def why_not(self, place: str) -> str:
        """Why the place is not reached, empty where it is."""
        if self.by(place):
            return ""
        found = [f"{why} ({protocol})" for protocol, why in self.places[place].items()]
        return ", ".join(found) or "its name is not found"


class ProbeFailed(Exception):
    """The box that was to try did not come to it; the message says why."""


def isolation(policies: Sequence[Object], labels: dict[str, str]) -> set[str]:
    """Which of `Ingress` and `Egress` are closed by default to pods with these labels. Pure.

    https://kubernetes.io/docs/concepts/services-networking/network-policies/
    """
    closed: set[str] = set()
    for policy in policies:
        spec = policy["spec"]
        selector = spec.get("podSelector") or {}
        if selector.get("matchExpressions") or not (selector.get("matchLabels") or {}).items() <= labels.items():
            continue
        closed |= set(spec.get("policyTypes") or (["Ingress", "Egress"] if "egress" in spec else ["Ingress"]))
    return closed


async def missing_isolation(cluster: Cluster, instance: str) -> set[str] | None:
    """Which of `Ingress` and `Egress` no policy closes to boxes; None where we may not look.

    Raises ClusterUnreachable and ClusterError.
    """
    if not await cluster.review(*POLICY_RIGHT):
        return None
    policies, _ = await cluster.list(POLICY, "")
    return {"Ingress", "Egress"} - isolation(policies, instance_labels(instance))


async def reach(
    cluster: Cluster,
    instance: str,
    options: PodOptions,
    *,
    places: Sequence[str],
    path: str = "",
    seconds: float,
    settle: float | None = None,
) -> Tried:
    """Start a small box that tries every place, and asks the first for `path` by plain HTTP; it is deleted again.

    Each is `host:port`, with an IPv6 address in brackets.
    Raises ProbeFailed, ClusterUnreachable and ClusterError.
    """
    pod = probe_pod(instance, options, [list(places), path, SETTLE_SECONDS if settle is None else settle])
    name = pod["metadata"]["name"]
    await cluster.create(pod)
    status: Object = {}
    try:
        async with asyncio.timeout(seconds):
            while True:
                found = await cluster.get("Pod", name) or {}
                status = found.get("status") or {}
                if status.get("phase") in ("Succeeded", "Failed"):
                    return _told(places, status)
                await asyncio.sleep(PAUSE)
    except TimeoutError:
        why = _waiting(status) or f"its pod is {status.get('phase', 'gone')}"
        raise ProbeFailed(f"it did not end within {seconds:.0f} s: {why}") from None
    finally:
        await cluster.delete("Pod", name, grace=0)


def probe_pod(instance: str, options: PodOptions, arguments: list[Any]) -> Object:
    """A pod that policies and nodes take for a box, without a home and without a secret."""
    name = f"gl-probe-{secrets.token_hex(4)}"
    little = Resources(requests={"cpu": "10m", "memory": "32Mi"}, limits={"memory": "128Mi"})
    command = ["python3", "-c", inspect.getsource(connecting), json.dumps(arguments)]
    slim = options.model_copy(update={"home": Home(size=""), "runner_resources": little, "command": command})
    labels = {"instance": instance, "installation": "0"}
    pod = box_pod(instance, BoxSpec(name=name, owner_key="", labels=labels, token="", service_url=""), slim)
    spec = pod["spec"]
    spec["volumes"] = [volume for volume in spec["volumes"] if volume["name"] not in OF_BOXES]
    # one of the two is enough: what a pod may reach is the same for both
    spec["containers"] = [each for each in spec["containers"] if each["name"] == RUNNER]
    for container in spec["containers"]:
        container["volumeMounts"] = [mount for mount in container["volumeMounts"] if mount["name"] not in OF_BOXES]
    return pod


def _told(places: Sequence[str], status: Object) -> Tried:
    ended = [each.get("state", {}).get("terminated") or {} for each in status.get("containerStatuses") or []]
    words = "".join(str(each.get("message") or "") for each in ended).strip()
    try:
        answer, told = json.loads(words.splitlines()[-1])
        found = {
            place: {protocol: str(why) for protocol, why in zip(PROTOCOLS, each, strict=True) if why is not None}
            for place, each in zip(places, told, strict=True)
        }
        return Tried(found, int(answer))
    except (ValueError, IndexError, KeyError, TypeError):
        why = words or status.get("message") or ", ".join(str(each.get("reason")) for each in ended)
        raise ProbeFailed(f"its container ended otherwise: {why or status.get('phase')}") from None


def _waiting(status: Object) -> str:
    states = [each.get("state", {}).get("waiting") or {} for each in status.get("containerStatuses") or []]
    return ", ".join(f"{each['reason']} {each.get('message', '')}".strip() for each in states if "reason" in each)
