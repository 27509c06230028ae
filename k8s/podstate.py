"""What a pod object says about a box, as one clear state with plain words. Pure: a pod (or None) in, a status out.

Facts: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/ and, for why the cluster takes a pod away,
https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
"""

import re
from datetime import datetime
from typing import Any

from k8s.boxes import BoxState, BoxStatus
from k8s.identity import AGENT, RUNNER, spec_labels
from k8s.runner.main import ALONE

Object = dict[str, Any]
Words = tuple[BoxState, str, bool]
"""State, sentence, and whether waiting will not mend it."""

# Waiting reasons that no waiting mends: the name itself is wrong, or the node is forbidden to pull.
PERMANENT_WAITING = {
    "InvalidImageName": "its image name is not valid",
    "ErrImageNeverPull": "its image is not on the node, and the pull policy is Never",
}
IMAGE_WAITING = {
    "ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "ImageInspectError", "SignatureValidationFailed",
}  # fmt: skip
# What registries and container runtimes say of an image that cannot be had, and what it comes to.
OTHER_ARCHITECTURE = ("no match for platform", "no matching manifest", "does not match the specified platform")
NO_RIGHT = ("unauthorized", "authorization failed", "access denied", "forbidden", "no basic auth credentials")
NO_IMAGE = ("not found", "manifest unknown", "no such image", "name unknown")
# The scheduler's words for a home that has no volume, or one that no fitting node can reach.
NO_VOLUME = (
    "unbound immediate persistentvolumeclaims",
    "available persistent volumes to bind",
    "volume node affinity conflict",
    "persistentvolumeclaim",
    "storageclass",
)
CONFIG_WAITING = {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
NODE_GONE = {"DeletionByTaintManager", "DeletionByPodGC"}
# The scheduler's words for nodes that would take the box if other pods were not there.
CROWDED = ("Insufficient ", "Too many pods")
LACKING = re.compile(r"Insufficient ([\w./-]*\w)")
REJECTED = {"NodeAffinity", "UnexpectedAdmissionError"}


# How people hear of a container: what runs in the agent's is what they asked for, the runner is ours.
WHO = {AGENT: "The agent's part of the box", RUNNER: "The box's runner"}


def pod_status(name: str, pod: Object | None) -> BoxStatus:
    """The status of the box `name`, whose pod this is; None: the cluster says there is none."""
    if pod is None:
        return BoxStatus(name=name, state=BoxState.ABSENT, message="The box has no pod any more: it was deleted.")
    state, message, permanent = _words(pod)
    return BoxStatus(
        name=name,
        state=state,
        message=message,
        permanent=permanent,
        crowded=state is BoxState.UNSCHEDULABLE and any(word in message for word in CROWDED),
        started_at=_started_at(pod),
        labels=spec_labels(pod["metadata"].get("labels") or {}),
    )


def is_over(pod: Object) -> bool:
    """Whether this pod will never run a turn again: it ended, or is being deleted. A fresh one takes its place."""
    status = pod.get("status") or {}
    return (
        bool(pod["metadata"].get("deletionTimestamp"))
        or status.get("phase") in ("Failed", "Succeeded")
        or _ended_container(status) is not None
    )


def waits_for_volume(pod: Object | None) -> bool:
    """Whether the pod has no node yet, and for all it says for want of a volume. Its claim tells more."""
    status = (pod or {}).get("status") or {}
    if pod is None or status.get("phase") != "Pending" or (pod.get("spec") or {}).get("nodeName"):
        return False
    condition = _condition(status, "PodScheduled") or {}
    return condition.get("status") != "False" or _names_volume(str(condition.get("message") or ""))


def _words(pod: Object) -> Words:
    status = pod.get("status") or {}
    phase = status.get("phase")
    taken = _taken_away(status)
    if pod["metadata"].get("deletionTimestamp"):
        return taken or (BoxState.LOST, "The box's pod was deleted.", False)
    if is_over(pod):
        # A pod may say Running long after its only container ended; the container is right.
        return taken or _ended(pod, status)
    if phase == "Unknown":
        return BoxState.UNKNOWN, "The box's node does not answer; the cluster still waits for it.", False
    waiting = _waiting(status)
    if waiting is not None:
        return waiting
    if phase == "Running":
        return BoxState.RUNNING, "", False
    return _unscheduled(pod, status) or (BoxState.STARTING, "", False)


def _taken_away(status: Object) -> Words | None:
    """Why the cluster took the pod away, if it did."""
    condition = _condition(status, "DisruptionTarget")
    why = str(condition.get("reason", "")) if condition and condition.get("status") == "True" else ""
    reason, text = str(status.get("reason") or ""), str(status.get("message") or "")
    if why in NODE_GONE or reason == "NodeLost":
        return BoxState.LOST, "The box's node was lost.", False
    if why == "PreemptionByScheduler" or reason == "Preempting":
        return BoxState.EVICTED, "The box had to make room for a more important pod.", False
    if reason == "Evicted" and any(word in text.lower() for word in ("ephemeral", "emptydir", "disk")):
        return BoxState.EVICTED, f"The box used more disk than it may and was evicted: {_short(text)}", False
    if reason == "Evicted" or why == "EvictionByEvictionAPI":
        return BoxState.EVICTED, "The box was evicted from its node" + (f": {_short(text)}" if text else "."), False
    if reason in ("NodeShutdown", "Shutdown", "Terminated") or why == "TerminationByKubelet":
        return BoxState.LOST, "The box's node was shut down.", False
    return None


def _ended(pod: Object, status: Object) -> Words:
    reason, text = str(status.get("reason") or ""), str(status.get("message") or "")
    if reason == "DeadlineExceeded":
        return BoxState.FAILED, "The box reached the time limit of its pod.", False
    if reason in REJECTED or reason.startswith("OutOf"):
        return BoxState.FAILED, f"The node refused the box: {_short(text or reason)}", False
    name, ended = _ended_container(status) or ("", None)
    if ended is None:
        if status.get("phase") == "Succeeded":
            return BoxState.LOST, "The box ended by itself.", False
        return BoxState.FAILED, f"The box failed: {_short(text or reason or 'no reason given')}", False
    who = WHO.get(name, "The box")
    why, code, last = str(ended.get("reason") or ""), ended.get("exitCode"), _short(str(ended.get("message") or ""))
    if why == "OOMKilled":
        limit = _memory_limit(pod, name)
        return BoxState.OOM_KILLED, f"{who} ran out of memory{f' (its limit is {limit})' if limit else ''}.", False
    if why == "ContainerStatusUnknown":
        return BoxState.LOST, "The box's node lost track of it.", False
    if "exec format error" in last:
        return BoxState.IMAGE_ERROR, f"The box's image is for another architecture than its node: {last}", True
    if why in ("StartError", "ContainerCannotRun"):
        return BoxState.FAILED, f"The box's entry point cannot be started: {last or why}", True
    if code == 0:
        return BoxState.LOST, "The box ended by itself.", False
    if (name, code) == (RUNNER, ALONE):
        return BoxState.FAILED, f"{WHO[AGENT]} did not come, or stopped answering.", False
    return BoxState.FAILED, f"{who} ended with exit code {code}" + (f": {last}" if last else "."), False


def _waiting(status: Object) -> Words | None:
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        waiting = (container.get("state") or {}).get("waiting")
        if not waiting:
            continue
        reason, text = str(waiting.get("reason") or ""), str(waiting.get("message") or "")
        image = container.get("image") or "(none)"
        if reason in PERMANENT_WAITING:
            return BoxState.IMAGE_ERROR, f"The box cannot start: {PERMANENT_WAITING[reason]} (image {image}).", True
        if reason in IMAGE_WAITING:
            return _unpulled(image, text or reason)
        if reason in CONFIG_WAITING and "runAsNonRoot" in text:
            return BoxState.IMAGE_ERROR, f"The box's image {image} wants to run as root: {_short(text)}", True
        if reason in CONFIG_WAITING:
            return BoxState.FAILED, f"The box cannot start: {_short(text or reason)}", False
        if reason == "CrashLoopBackOff":
            last = (container.get("lastState") or {}).get("terminated") or {}
            state = BoxState.OOM_KILLED if last.get("reason") == "OOMKilled" else BoxState.FAILED
            return state, f"The box keeps ending (last exit code {last.get('exitCode')}).", False
    return None


def _unpulled(image: str, text: str) -> Words:
    """Of another architecture it stays; a registry may yet get the image, and a secret the right to it."""
    said = text.lower()
    if any(words in said for words in OTHER_ARCHITECTURE):
        words = f"The box's image {image} is not there for the architecture of the nodes: {_short(text)}"
        return BoxState.IMAGE_ERROR, words, True
    if any(words in said for words in NO_RIGHT):
        why = ", for the registry does not let the cluster have it (see the pull secrets of boxes)"
    elif any(words in said for words in NO_IMAGE):
        why = ", for the registry has no such image"
    else:
        why = ""
    return BoxState.IMAGE_ERROR, f"The box's image {image} cannot be pulled{why}: {_short(text)}", False


def _unscheduled(pod: Object, status: Object) -> Words | None:
    condition = _condition(status, "PodScheduled")
    if condition is None or condition.get("status") != "False":
        return None
    text = _short(str(condition.get("message") or condition.get("reason") or ""))
    if _names_volume(text):
        home = "see the storage class of homes, and that the cluster has a default one where none is named"
        return (
            BoxState.UNSCHEDULABLE,
            f"The box's home has no volume that a fitting node reaches ({home}): {text}",
            False,
        )
    lacking = dict.fromkeys(LACKING.findall(text))
    if not lacking and not any(words in text for words in CROWDED):
        return BoxState.UNSCHEDULABLE, f"No node takes the box: {text}", False
    asked = {resource: _requested(pod, resource) for resource in lacking}
    sizes = ", ".join(f"{size} of {name}" for name, size in asked.items() if size)
    for_what = f", which asks for {sizes}" if sizes else ""
    return BoxState.UNSCHEDULABLE, f"No node has room for the box{for_what}: {text}", False


def _names_volume(text: str) -> bool:
    return any(words in text.lower() for words in NO_VOLUME)


def _requested(pod: Object, resource: str) -> str:
    """What the containers ask for of a resource, as they write it; empty for nothing."""
    requests = [(each.get("resources") or {}).get("requests") or {} for each in pod["spec"]["containers"]]
    return " and ".join(str(each[resource]) for each in requests if resource in each)


def _ended_container(status: Object) -> tuple[str, Object] | None:
    """Name and `terminated` state of the container that the pod ended with; None while none has ended badly, nor all.

    That is the one whose memory ran out, else the first that ended badly. Times are whole seconds: a runner that says
    that it follows the other is never the first.
    """
    containers = status.get("containerStatuses") or []
    states = [(str(each["name"]), (each.get("state") or {}).get("terminated")) for each in containers]
    ended = [(name, state) for name, state in states if state]
    bad = [(name, state) for name, state in ended if state.get("exitCode") != 0]
    if bad:
        return min(bad, key=_lateness)
    return ended[0] if ended and len(ended) == len(states) else None


def _lateness(ended: tuple[str, Object]) -> tuple[bool, bool, str]:
    name, state = ended
    follows = name == RUNNER and state.get("exitCode") == ALONE
    return state.get("reason") != "OOMKilled", follows, str(state.get("finishedAt") or "")


def _condition(status: Object, kind: str) -> Object | None:
    return next((item for item in status.get("conditions") or [] if item.get("type") == kind), None)


def _started_at(pod: Object) -> datetime | None:
    for container in (pod.get("status") or {}).get("containerStatuses") or []:
        state = container.get("state") or {}
        at = (state.get("running") or state.get("terminated") or {}).get("startedAt")
        if at:
            return datetime.fromisoformat(at)
    return None


def _memory_limit(pod: Object, name: str) -> str:
    containers = (pod.get("spec") or {}).get("containers") or []
    found: Object = next((each for each in containers if each["name"] == name), {})
    return str(((found.get("resources") or {}).get("limits") or {}).get("memory") or "")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:299] + "…"
