import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8s.boxes import box_name, spare_name
from k8s.identity import (
    SPARE,
    box_labels,
    home_name,
    instance_labels,
    is_ours,
    label_value,
    owner_labels,
    secret_name,
    selector,
    spec_labels,
)

DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")


@given(
    instance=st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", fullmatch=True),
    installation=st.integers(1, 2**53),
    person=st.integers(1, 2**53),
    repository=st.none() | st.integers(1, 2**53),
    session=st.none() | st.integers(1, 2**53),
)
def test_box_home_and_secret_have_valid_names_for_every_instance_and_id(
    instance: str, installation: int, person: int, repository: int | None, session: int | None
) -> None:
    name = box_name(instance, installation, person, repository=repository, session=session)
    assert name == box_name(instance, installation, person, repository=repository, session=session)
    for made in (name, home_name(name), secret_name(name), home_name(spare_name(instance))):
        assert DNS_LABEL.fullmatch(made), made


@pytest.mark.parametrize("owner", [1, 2**53])
def test_each_repository_and_session_of_a_person_and_each_spare_has_a_name_of_its_own(owner: int) -> None:
    ids = (None, 1, 2, 2**53, 2**53 - 1)
    boxes = {
        box_name("a", owner, owner, repository=repository, session=session) for repository in ids for session in ids
    }
    assert len(boxes) == 25
    assert spare_name("a") != spare_name("a")


@given(login=st.text(max_size=120))
def test_any_login_becomes_a_valid_label_value(login: str) -> None:
    assert LABEL_VALUE.fullmatch(label_value(login))


def test_two_instances_make_different_names_for_the_same_person() -> None:
    assert len({box_name(instance, 7, 42) for instance in ("team-a", "team-b", "Team-A", "team_a")}) == 4


def test_a_rename_changes_the_login_label_and_nothing_else() -> None:
    before = box_labels("greenloop", "b", {"installation": "7", "person": "42", "login": "octo-cat"})
    after = box_labels("greenloop", "b", {"installation": "7", "person": "42", "login": "renamed[bot]"})
    assert {key for key in before if before[key] != after[key]} == {"greenloop/login"}


def test_labels_of_a_spec_come_back_from_the_object() -> None:
    made = box_labels("greenloop", "gl-x", {"instance": "other", "installation": "7", "person": "42"})
    assert spec_labels(made) == {
        "instance": "greenloop",
        "box": "gl-x",
        "port": "boxes",
        "installation": "7",
        "person": "42",
    }


def test_a_spec_cannot_claim_another_instance_or_box_through_its_labels() -> None:
    assert owner_labels({"instance": "other", "box": "other", "spare": "true", "person": "1"}) == {
        "greenloop/person": "1"
    }


def test_a_box_without_an_installation_is_a_spare() -> None:
    assert box_labels("greenloop", "gl-x", {})[SPARE] == "true"
    assert SPARE not in box_labels("greenloop", "gl-x", {"installation": "7"})


@pytest.mark.parametrize("instance", ["", "-a", "a b", "ä", "x" * 64])
def test_an_instance_name_that_is_no_label_value_is_refused_rather_than_bent(instance: str) -> None:
    with pytest.raises(ValueError, match="instance name"):
        instance_labels(instance)


def test_only_objects_with_all_our_labels_are_ours() -> None:
    ours = {"metadata": {"labels": box_labels("team-a", "gl-x", {"installation": "7"})}}
    assert is_ours(ours, "team-a")
    assert not is_ours(ours, "team-b")
    assert not is_ours({"metadata": {}}, "team-a")
    assert not is_ours({"metadata": {"labels": {"greenloop/instance": "team-a"}}}, "team-a")
    assert "greenloop/instance=team-a" in selector("team-a").split(",")
