from typing import Any

import pytest

from k8s.boxes import BoxState, BoxStatus
from k8s.home_claim import USUAL_SECONDS, with_claim
from k8s.podstate import pod_status, waits_for_volume
from tests.k8s.objects import container, pod

MADE = 1_780_000_000.0


def claim(phase: str = "Pending", **spec: Any) -> dict[str, Any]:
    metadata = {"name": "gl-a-home", "creationTimestamp": "2026-05-28T20:26:40Z"}
    return {"metadata": metadata, "spec": spec, "status": {"phase": phase}}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"storageClassName": "fast"}, 'none of the storage class "fast" has come yet (claim gl-a-home)'),
        ({"storageClassName": ""}, "only a volume that somebody makes by hand"),
        ({}, "no storage class is set (boxes.pod.home.storageClass), and the cluster has no default one"),
    ],
)
def test_a_box_without_its_volume_says_of_which_class_it_is(spec: dict[str, Any], words: str) -> None:
    seen = with_claim(BoxStatus(name="gl-a", state=BoxState.STARTING), claim(**spec), MADE + 60)
    assert (seen.state, seen.permanent, seen.may_come) == (BoxState.UNSCHEDULABLE, False, True)
    assert words in seen.message


def test_a_volume_that_is_gone_is_said() -> None:
    seen = with_claim(BoxStatus(name="gl-a", state=BoxState.STARTING), claim("Lost"), MADE + 60)
    assert "has lost it" in seen.message


def test_what_the_scheduler_says_of_the_volume_stands_behind() -> None:
    said = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said}
    waiting = pod("Pending", conditions=[condition])
    assert waits_for_volume(waiting)
    seen = with_claim(pod_status("gl-a", waiting), claim(storageClassName="fast"), MADE)
    assert seen.message.index('"fast"') < seen.message.index(said)


@pytest.mark.parametrize(("phase", "age"), [("Bound", 3600.0), ("Pending", USUAL_SECONDS - 1)])
def test_a_volume_that_is_there_or_just_being_made_is_no_trouble(phase: str, age: float) -> None:
    starting = BoxStatus(name="gl-a", state=BoxState.STARTING)
    assert with_claim(starting, claim(phase, storageClassName="fast"), MADE + age) == starting
    assert with_claim(starting, None, MADE + age) == starting


@pytest.mark.parametrize(
    ("phase", "node", "message", "waits"),
    [
        ("Pending", None, None, True),
        ("Pending", None, 'storageclass.storage.k8s.io "fast" not found', True),
        ("Pending", None, "3 Insufficient memory.", False),
        ("Pending", "node-1", None, False),
        ("Running", "node-1", None, False),
        ("Failed", None, None, False),
    ],
)
def test_only_a_pod_that_may_lack_a_volume_has_its_claim_looked_at(
    phase: str, node: str | None, message: str | None, waits: bool
) -> None:
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    made = pod(phase, conditions=[said] if message else [])
    made["spec"] |= {"nodeName": node} if node else {}
    assert waits_for_volume(made) is waits


def test_a_pod_whose_image_is_pulled_has_its_volume() -> None:
    assert not waits_for_volume(pod("Running", containerStatuses=[container(running={})]))
    assert not waits_for_volume(None)
