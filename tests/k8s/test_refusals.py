"""What a cluster's refusal to make a box means, in words that real clusters use."""

import pytest

from k8s.boxes import BoxState
from k8s.cluster import ClusterError, ClusterUnreachable
from k8s.refusals import refusal, why_no_boxes
from tests.k8s.objects import spec

FORBIDDEN = 'pods "gl-a" is forbidden: '


@pytest.mark.parametrize(
    ("status", "message", "who"),
    [
        (403, FORBIDDEN + 'violates PodSecurity "restricted:latest": runAsNonRoot != true', "Pod Security refuses"),
        (403, FORBIDDEN + "maximum memory usage per Container is 2Gi, but limit is 4Gi", "LimitRange refuses"),
        (403, FORBIDDEN + "[minimum cpu usage per Container is 1, but request is 10m]", "LimitRange refuses"),
        (403, FORBIDDEN + "failed quota: boxes: must specify limits.memory for: box", 'quota "boxes" counts'),
        (403, FORBIDDEN + "no PriorityClass with name low was found", 'no priority class "low"'),
        (403, FORBIDDEN + 'pod rejected: RuntimeClass "gvisor" not found', 'no runtime class "gvisor"'),
        (
            403,
            'admission webhook "policies.example.com" denied the request: no',
            'webhook "policies.example.com" refuses',
        ),
        (403, FORBIDDEN + "unable to validate against any security context constraint: [...]", "OpenShift's security"),
        (403, FORBIDDEN + "what no version of ours has heard of", "The cluster does not admit the box"),
        (
            422,
            FORBIDDEN + "ValidatingAdmissionPolicy 'registries' with binding 'all' denied request: not from there",
            'The admission policy "registries" refuses',
        ),
        (
            400,
            'admission webhook "validate.example.com" denied the request: no',
            'webhook "validate.example.com" refuses',
        ),
        (422, 'Pod "gl-a" is invalid: spec.containers[0].image: Required value', "refuses the box as invalid"),
    ],
)
def test_who_does_not_take_the_box_is_named_with_what_was_said(status: int, message: str, who: str) -> None:
    said = refusal(spec(), ClusterError(status, "Forbidden", message))
    assert said is not None
    assert (said.state, said.permanent) == (BoxState.FAILED, True)
    assert message in said.message
    assert who in said.message.removesuffix(message)


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


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ClusterError(401, "Unauthorized", "Unauthorized"), "does not take the service's credentials"),
        (
            ClusterError(
                403, "Forbidden", 'pods is forbidden: User "system:serviceaccount:a:b" cannot create resource'
            ),
            "may not do in the namespace",
        ),
        (
            ClusterError(
                403, "Forbidden", "unable to create new content in namespace b because it is being terminated"
            ),
            "is being deleted",
        ),
        (ClusterError(404, "NotFound", 'namespaces "boxes" not found'), "does not exist"),
        (
            ClusterUnreachable(
                "POST /api/v1/namespaces/boxes/pods: 500 Internal error occurred: failed calling webhook "
                '"mutate.example.com": failed to call webhook: Post "https://webhook.example.svc:443/mutate": EOF'
            ),
            'The admission webhook "mutate.example.com" does not answer',
        ),
        (ClusterUnreachable("the API server does not answer: TimeoutError: "), ""),
    ],
)
def test_why_there_are_no_boxes_is_told_to_people_without_addresses(
    error: ClusterError | ClusterUnreachable, words: str
) -> None:
    said = why_no_boxes(error)
    assert words in said and bool(words) == bool(said)
    assert "http" not in said and "system:" not in said
