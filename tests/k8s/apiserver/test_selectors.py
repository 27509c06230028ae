import pytest

from tests.k8s.cluster_double.objects.errors import Refused
from tests.k8s.cluster_double.objects.selectors import field_matcher, label_matcher


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("", True),
        ("a=1", True),
        ("a==1,b!=3", True),
        ("a=2", False),
        ("a in (1, 2),b notin (3)", True),
        ("a notin (1)", False),
        ("c", False),
        ("!c,b", True),
        ("c!=1", True),
    ],
)
def test_label_selectors(selector: str, matches: bool) -> None:
    assert label_matcher(selector)({"a": "1", "b": "2"}) is matches


def test_a_selector_that_cannot_be_read_is_a_bad_request() -> None:
    with pytest.raises(Refused, match="parse") as refused:
        label_matcher("a in 1 2")
    assert refused.value.code == 400


def test_field_selectors_reach_into_the_object() -> None:
    pod = {"metadata": {"name": "x"}, "status": {"phase": "Running"}}
    assert field_matcher("metadata.name=x,status.phase!=Failed")(pod)
    assert not field_matcher("metadata.name=y")(pod)
    assert field_matcher("spec.nodeName=")(pod)
