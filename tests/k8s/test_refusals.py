"""What a cluster's refusal to make a box means, in words that real clusters use."""

import pytest

from k8s.boxes import BoxState
from k8s.cluster import ClusterError
from k8s.kubernetes_boxes import refusal
from tests.k8s.objects import spec

FORBIDDEN = 'pods "gl-a" is forbidden: '


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (403, FORBIDDEN + 'violates PodSecurity "restricted:latest": runAsNonRoot != true'),
        (403, FORBIDDEN + "maximum memory usage per Container is 2Gi, but limit is 4Gi"),
        (403, FORBIDDEN + "failed quota: boxes: must specify limits.memory for: box"),
        (403, FORBIDDEN + "no PriorityClass with name low was found"),
        (403, 'admission webhook "policies.example.com" denied the request: images cannot come from there'),
        (403, FORBIDDEN + "unable to validate against any security context constraint: [provider restricted-v2: ...]"),
        (400, 'admission webhook "validate.example.com" denied the request: no'),
        (422, 'Pod "gl-a" is invalid: spec.containers[0].image: Required value'),
    ],
)
def test_what_the_cluster_does_not_take_is_said_with_its_own_words(status: int, message: str) -> None:
    said = refusal(spec(), ClusterError(status, "Forbidden", message))
    assert said is not None
    assert (said.state, said.permanent) == (BoxState.FAILED, True)
    assert message in said.message


def test_a_full_quota_may_become_free() -> None:
    message = FORBIDDEN + "exceeded quota: boxes, requested: pods=1, used: pods=60, limited: pods=60"
    said = refusal(spec(), ClusterError(403, "Forbidden", message))
    assert said is not None
    assert (said.state, said.permanent, said.crowded) == (BoxState.FULL, False, True)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "Unauthorized"),
        (403, 'pods is forbidden: User "system:serviceaccount:a:b" cannot create resource "pods" in API group ""'),
        (403, FORBIDDEN + "unable to create new content in namespace boxes because it is being terminated"),
        (403, FORBIDDEN + 'error looking up service account boxes/default: serviceaccount "default" not found'),
        (404, 'namespaces "boxes" not found'),
        (409, 'Operation cannot be fulfilled on resourcequotas "boxes": the object has been modified'),
    ],
)
def test_what_is_wrong_with_us_or_the_namespace_says_nothing_about_the_box(status: int, message: str) -> None:
    assert refusal(spec(), ClusterError(status, "Forbidden", message)) is None
