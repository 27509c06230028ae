from datetime import UTC, datetime
from typing import Any

import pytest

from k8s.boxes import BoxState
from k8s.podstate import is_over, pod_status
from tests.k8s.objects import container, pod


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    return {"containerStatuses": [container(waiting={"reason": reason, "message": message})]}


def terminated(reason: str, code: int, message: str = "", name: str = "agent") -> dict[str, Any]:
    return {"containerStatuses": [container(name, terminated={"reason": reason, "exitCode": code, "message": message})]}


def both(runner: tuple[str, int, str], agent: tuple[str, int, str]) -> dict[str, Any]:
    """Both containers ended: reason, code, and the minute in which they did."""
    ended = [
        container(name, terminated={"reason": reason, "exitCode": code, "finishedAt": f"2026-11-29T10:{minute}:00Z"})
        for name, (reason, code, minute) in (("runner", runner), ("agent", agent))
    ]
    return {"containerStatuses": ended}


RUNS = container("runner", running={})


def condition(kind: str, status: str, reason: str, message: str = "") -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": status, "reason": reason, "message": message}]}


CASES: list[tuple[str, str, dict[str, Any], BoxState, bool, str]] = [
    ("just created", "Pending", {}, BoxState.STARTING, False, ""),
    ("container creating", "Pending", waiting("ContainerCreating"), BoxState.STARTING, False, ""),
    (
        "no node",
        "Pending",
        condition("PodScheduled", "False", "Unschedulable", "0/3 nodes are available: 3 Insufficient memory."),
        BoxState.UNSCHEDULABLE,
        False,
        "No node has room for the box, which asks for 128Mi and 1Gi of memory: 0/3 nodes are available: 3 Ins",
    ),
    (
        "no node with room for two things",
        "Pending",
        condition("PodScheduled", "False", "Unschedulable", "2 Insufficient cpu, 1 Insufficient ephemeral-storage."),
        BoxState.UNSCHEDULABLE,
        False,
        "which asks for 50m and 500m of cpu, 64Mi and 1Gi of ephemeral-storage: 2 Ins",
    ),
    (
        "no node of the kind",
        "Pending",
        condition("PodScheduled", "False", "Unschedulable", "1 node(s) had untolerated taint {a: b}."),
        BoxState.UNSCHEDULABLE,
        False,
        "No node takes the box: 1 node(s) had untolerated taint",
    ),
    ("pull error", "Pending", waiting("ErrImagePull", "not found"), BoxState.IMAGE_ERROR, False, "not found"),
    (
        "an image that is not there",
        "Pending",
        waiting(
            "ErrImagePull", 'failed to resolve reference "registry.example/box:2": registry.example/box:2: not found'
        ),
        BoxState.IMAGE_ERROR,
        False,
        "for the registry has no such image",
    ),
    (
        "an image that the cluster may not have",
        "Pending",
        waiting("ImagePullBackOff", "pull access denied, repository does not exist or may require authorization"),
        BoxState.IMAGE_ERROR,
        False,
        "for the registry does not let the cluster have it",
    ),
    (
        "an image that is not there for the nodes",
        "Pending",
        waiting("ErrImagePull", "no match for platform in manifest: not found"),
        BoxState.IMAGE_ERROR,
        True,
        "not there for the architecture of the nodes",
    ),
    (
        "an image of another architecture",
        "Failed",
        terminated("Error", 255, "exec /usr/bin/tini: exec format error"),
        BoxState.IMAGE_ERROR,
        True,
        "for another architecture than its node",
    ),
    (
        "a home without a volume",
        "Pending",
        condition(
            "PodScheduled",
            "False",
            "Unschedulable",
            "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
        ),
        BoxState.UNSCHEDULABLE,
        False,
        "that a fitting node reaches (see the storage class of homes",
    ),
    (
        "a home on another node",
        "Pending",
        condition(
            "PodScheduled",
            "False",
            "Unschedulable",
            "2 node(s) had volume node affinity conflict.",
        ),
        BoxState.UNSCHEDULABLE,
        False,
        "home has no volume",
    ),
    ("pull back-off", "Pending", waiting("ImagePullBackOff", "Back-off"), BoxState.IMAGE_ERROR, False, "Back-off"),
    ("bad image name", "Pending", waiting("InvalidImageName"), BoxState.IMAGE_ERROR, True, "not valid"),
    ("not signed", "Pending", waiting("SignatureValidationFailed"), BoxState.IMAGE_ERROR, False, "Signature"),
    ("never pull", "Pending", waiting("ErrImageNeverPull"), BoxState.IMAGE_ERROR, True, "Never"),
    (
        "root image",
        "Pending",
        waiting("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"),
        BoxState.IMAGE_ERROR,
        True,
        "root",
    ),
    (
        "missing secret",
        "Pending",
        waiting("CreateContainerConfigError", 'secret "x" not found'),
        BoxState.FAILED,
        False,
        'secret "x" not found',
    ),
    ("running", "Running", {"containerStatuses": [container(running={})]}, BoxState.RUNNING, False, ""),
    ("out of memory", "Failed", terminated("OOMKilled", 137), BoxState.OOM_KILLED, False, "its limit is 4Gi"),
    (
        "the runner is out of memory",
        "Failed",
        both(("OOMKilled", 137, "05"), ("Completed", 0, "06")),
        BoxState.OOM_KILLED,
        False,
        "The box's runner ran out of memory (its limit is 1Gi)",
    ),
    (
        "the agent is out of memory, and the runner follows",
        "Failed",
        both(("Error", 5, "06"), ("OOMKilled", 137, "05")),
        BoxState.OOM_KILLED,
        False,
        "The agent's part of the box ran out of memory (its limit is 4Gi)",
    ),
    (
        "the agent's container ended, and the runner still reports",
        "Running",
        {"containerStatuses": [RUNS, *terminated("OOMKilled", 137)["containerStatuses"]]},
        BoxState.OOM_KILLED,
        False,
        "its limit is 4Gi",
    ),
    (
        "the supervisor gave up, and the runner follows",
        "Failed",
        both(("Error", 5, "05"), ("Error", 1, "05")),
        BoxState.FAILED,
        False,
        "The agent's part of the box ended with exit code 1",
    ),
    (
        "the agent's container does not answer",
        "Running",
        {"containerStatuses": [*terminated("Error", 5, name="runner")["containerStatuses"], container(running={})]},
        BoxState.FAILED,
        False,
        "The agent's part of the box did not come, or stopped answering.",
    ),
    (
        "the runner ended, and the agent's container with it",
        "Failed",
        both(("Error", 3, "05"), ("Completed", 0, "05")),
        BoxState.FAILED,
        False,
        "The box's runner ended with exit code 3",
    ),
    (
        "a pod of the former release",
        "Failed",
        terminated("OOMKilled", 137, name="box"),
        BoxState.OOM_KILLED,
        False,
        "The box ran out of memory",
    ),
    ("one starts later", "Pending", {"containerStatuses": [RUNS, container(waiting={})]}, BoxState.STARTING, False, ""),
    ("crashed", "Failed", terminated("Error", 3, "token refused"), BoxState.FAILED, False, "code 3: token refused"),
    ("no entry point", "Failed", terminated("StartError", 128, "tini: no such file"), BoxState.FAILED, True, "tini"),
    ("kubelet lost it", "Failed", terminated("ContainerStatusUnknown", 137), BoxState.LOST, False, "lost track"),
    ("ended by itself", "Succeeded", terminated("Completed", 0), BoxState.LOST, False, "ended by itself"),
    ("zombie: Running, container ended", "Running", terminated("Error", 1), BoxState.FAILED, False, "exit code 1"),
    (
        "evicted for memory",
        "Failed",
        {"reason": "Evicted", "message": "The node was low on resource: memory."},
        BoxState.EVICTED,
        False,
        "low on resource: memory",
    ),
    (
        "evicted for disk",
        "Failed",
        {
            "reason": "Evicted",
            "message": "Pod ephemeral local storage usage exceeds the total limit of containers 10Gi.",
        },
        BoxState.EVICTED,
        False,
        "more disk than it may",
    ),
    (
        "drained",
        "Failed",
        condition("DisruptionTarget", "True", "EvictionByEvictionAPI"),
        BoxState.EVICTED,
        False,
        "evicted",
    ),
    (
        "preempted",
        "Failed",
        condition("DisruptionTarget", "True", "PreemptionByScheduler"),
        BoxState.EVICTED,
        False,
        "more important",
    ),
    ("node gone", "Failed", condition("DisruptionTarget", "True", "DeletionByPodGC"), BoxState.LOST, False, "node"),
    ("node shut down", "Failed", {"reason": "Terminated", "message": "shutdown"}, BoxState.LOST, False, "shut down"),
    ("node silent", "Unknown", {}, BoxState.UNKNOWN, False, "does not answer"),
    ("deadline", "Failed", {"reason": "DeadlineExceeded"}, BoxState.FAILED, False, "time limit"),
    ("refused by the node", "Failed", {"reason": "OutOfcpu", "message": "no cpu"}, BoxState.FAILED, False, "no cpu"),
    (
        "crash loop",
        "Running",
        {
            "containerStatuses": [
                container(waiting={"reason": "CrashLoopBackOff"})
                | {"lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}
            ]
        },
        BoxState.OOM_KILLED,
        False,
        "137",
    ),
]


@pytest.mark.parametrize(
    ("phase", "status", "state", "permanent", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_each_pod_becomes_one_state_with_plain_words(
    phase: str, status: dict[str, Any], state: BoxState, permanent: bool, words: str
) -> None:
    seen = pod_status("gl-x", pod(phase, **status))
    assert (seen.state, seen.permanent) == (state, permanent)
    assert words in seen.message
    assert bool(seen.message) != seen.usable


def test_a_pod_deleted_by_hand_is_lost() -> None:
    deleted = pod()
    deleted["metadata"]["deletionTimestamp"] = "2026-11-29T10:05:00Z"
    assert pod_status("gl-x", deleted).state is BoxState.LOST
    assert "deleted" in pod_status("gl-x", deleted).message


def test_a_pod_deleted_because_its_node_died_says_so() -> None:
    deleted = pod(**condition("DisruptionTarget", "True", "DeletionByTaintManager"))
    deleted["metadata"]["deletionTimestamp"] = "2026-11-29T10:05:00Z"
    assert "node" in pod_status("gl-x", deleted).message


def test_no_pod_is_absent() -> None:
    assert pod_status("gl-x", None).state is BoxState.ABSENT


def test_labels_and_start_time_come_with_the_status() -> None:
    seen = pod_status("gl-x", pod(containerStatuses=[container(running={"startedAt": "2026-11-29T10:01:00Z"})]))
    assert seen.started_at == datetime(2026, 11, 29, 10, 1, tzinfo=UTC)
    assert seen.labels["person"] == "42"


def test_a_long_message_of_the_cluster_is_cut() -> None:
    assert len(pod_status("gl-x", pod("Pending", **waiting("ErrImagePull", "x" * 5000))).message) < 450


@pytest.mark.parametrize(
    ("phase", "status", "over"),
    [("Pending", {}, False), ("Running", {}, False), ("Failed", {}, True), ("Running", terminated("Error", 1), True)],
)
def test_only_pods_that_never_run_again_are_over(phase: str, status: dict[str, Any], over: bool) -> None:
    assert is_over(pod(phase, **status)) is over
