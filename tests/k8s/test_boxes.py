"""Names and shapes of boxes."""

import pytest

from k8s.boxes import NAME_PATTERN, BoxSpec, box_name


@pytest.mark.parametrize("instance", ["prod", "My Team's Greenloop", "a" * 200, "", "-", "Ünïcode"])
def test_a_box_name_is_always_a_dns_label(instance: str) -> None:
    name = box_name(instance, 10**12, 10**12)
    assert NAME_PATTERN.fullmatch(name)
    assert len(name) <= 63


def test_instances_that_look_alike_get_names_apart() -> None:
    names = {box_name(instance, 1, 2) for instance in ["prod", "Prod", "prod-", "p" * 30, "p" * 31]}
    assert len(names) == 5


def test_a_spec_hides_its_token_and_refuses_a_name_that_is_no_label() -> None:
    spec = BoxSpec(name="gl-a-1-2", owner_key="1/2", labels={}, token="box-secret", service_url="http://s")
    assert "box-secret" not in repr(spec)
    with pytest.raises(ValueError, match="no DNS label"):
        BoxSpec(name="../up", owner_key="1/2", labels={}, token="t", service_url="http://s")
