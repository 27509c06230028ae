import copy
from decimal import Decimal
from typing import Any

import pytest

from k8s.options import PodOptions
from k8s.pod import box_pod
from tests.k8s.cluster_double.admission.podsecurity import refusal
from tests.k8s.cluster_double.objects.errors import Refused
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.validation.quantities import quantity
from tests.k8s.cluster_double.validation.shape import check_shape
from tests.k8s.cluster_double.validation.updates import check_update
from tests.k8s.cluster_double.validation.values import check_values
from tests.k8s.objects import IMAGE, spec

Object = dict[str, Any]

POD = BY_KIND["Pod"]


def good() -> Object:
    return box_pod("greenloop", spec(), PodOptions(image=IMAGE))


def refused(item: Object) -> Refused:
    with pytest.raises(Refused) as caught:
        check_shape(POD, item, strict=True)
        check_values(POD, item)
    return caught.value


def changed(path: str, value: Any) -> Object:
    item: Any = good()
    steps: list[Any] = [int(step) if step.isdigit() else step for step in path.split(".")]
    target = item
    for step in steps[:-1]:
        target = target[step]
    target[steps[-1]] = value
    return dict(item)


def test_a_box_passes() -> None:
    assert check_shape(POD, good(), strict=True) == []
    check_values(POD, good())


@pytest.mark.parametrize(
    ("path", "value", "code", "words"),
    [
        ("metadata.name", "Not_A_Name", 422, "RFC 1123"),
        ("metadata.labels", {"a b": "c"}, 422, "metadata.labels"),
        ("metadata.labels", {"a": "x" * 64}, 422, "metadata.labels"),
        ("spec.containers", [], 422, "spec.containers"),
        ("spec.restartPolicy", "Sometimes", 422, "Unsupported value"),
        ("spec.containers.0.resources", {"requests": {"cpu": "much"}}, 400, "quantities"),
        ("spec.containers.0.resources", {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}, 422, "less than or equal"),
        ("spec.containers.0.volumeMounts", [{"name": "nowhere", "mountPath": "/x"}], 422, "Not found"),
        ("spec.containers.0.env", [{"name": "A=B"}], 422, "env[0].name"),
        ("spec.terminationGracePeriodSeconds", "soon", 400, "terminationGracePeriodSeconds"),
        ("spec.containers.0.imagePullPolicies", "Always", 400, 'unknown field "spec.containers[0].imagePullPolicies"'),
        ("spec.containers.0", {"image": "x"}, 422, "name: Required value"),
    ],
)
def test_what_kubernetes_refuses_is_refused(path: str, value: Any, code: int, words: str) -> None:
    error = refused(changed(path, value))
    assert error.code == code
    assert words in error.message


def test_unknown_fields_are_only_told_when_the_client_is_not_strict() -> None:
    assert check_shape(POD, changed("spec.hostnam", "x"), strict=False) == ['unknown field "spec.hostnam"']


def test_a_running_pod_cannot_be_changed_into_another() -> None:
    before = good()
    before["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    after = copy.deepcopy(before)
    after["spec"]["containers"][0]["image"] = "other"
    check_update(POD, before, after)
    after["spec"]["containers"][0]["command"] = ["sh"]
    with pytest.raises(Refused, match="may not change fields"):
        check_update(POD, before, after)


@pytest.mark.parametrize(
    ("text", "value"), [("500m", "0.5"), ("2", "2"), ("1Gi", str(1024**3)), ("1k", "1000"), ("1e3", "1000"), ("0", "0")]
)
def test_quantities(text: str, value: str) -> None:
    assert quantity(text) == Decimal(value)


@pytest.mark.parametrize("text", ["", "much", "1GiB", "1.2.3", "--1", "1 Gi"])
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="no quantity"):
        quantity(text)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("spec.containers.0.securityContext", {}, "allowPrivilegeEscalation != false"),
        ("spec.containers.0.securityContext.capabilities", {"drop": ["NET_RAW"]}, "unrestricted capabilities"),
        ("spec.containers.0.securityContext.runAsNonRoot", False, "runAsNonRoot != true"),
        ("spec.securityContext.runAsUser", 0, "runAsUser=0"),
        ("spec.containers.0.securityContext.seccompProfile", {"type": "Unconfined"}, "seccompProfile"),
        ("spec.hostNetwork", True, "host namespaces"),
        ("spec.volumes", [{"name": "x", "hostPath": {"path": "/"}}], "hostPath"),
    ],
)
def test_pod_security_names_what_breaks_the_level(path: str, value: Any, words: str) -> None:
    assert refusal(good()["spec"], "restricted") is None
    found = refusal(changed(path, value)["spec"], "restricted")
    assert found is not None
    assert words in found
    assert refusal(changed(path, value)["spec"], "privileged") is None
