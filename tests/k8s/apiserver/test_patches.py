from typing import Any

import pytest

from tests.k8s.cluster_double.objects.errors import Refused
from tests.k8s.cluster_double.objects.patches import JSON, MERGE, STRATEGIC, applied, patched

Object = dict[str, Any]

ITEM: Object = {
    "metadata": {"labels": {"a": "1", "b": "2"}},
    "containers": [{"name": "x", "image": "1"}, {"name": "y", "image": "1"}],
}


def test_a_merge_patch_replaces_lists_and_removes_nulls() -> None:
    after = patched(ITEM, {"metadata": {"labels": {"a": None, "c": "3"}}, "containers": []}, MERGE)
    assert after == {"metadata": {"labels": {"b": "2", "c": "3"}}, "containers": []}


def test_a_strategic_patch_merges_lists_by_their_key() -> None:
    after = patched(ITEM, {"containers": [{"name": "y", "image": "2"}, {"name": "x", "$patch": "delete"}]}, STRATEGIC)
    assert after["containers"] == [{"name": "y", "image": "2"}]


def test_a_json_patch_is_applied_in_order_and_refused_where_it_does_not_fit() -> None:
    after = patched(
        ITEM,
        [
            {"op": "test", "path": "/metadata/labels/a", "value": "1"},
            {"op": "remove", "path": "/metadata/labels/b"},
            {"op": "add", "path": "/containers/-", "value": {"name": "z"}},
            {"op": "replace", "path": "/containers/0/image", "value": "9"},
        ],
        JSON,
    )
    assert after["metadata"]["labels"] == {"a": "1"}
    assert [container["name"] for container in after["containers"]] == ["x", "y", "z"]
    assert after["containers"][0]["image"] == "9"
    with pytest.raises(Refused) as refused:
        patched(ITEM, [{"op": "replace", "path": "/metadata/nothing", "value": 1}], JSON)
    assert refused.value.code == 422


def test_apply_removes_what_the_manager_wanted_before_and_leaves_what_others_set() -> None:
    live = {"data": {"mine": "1", "dropped": "2", "theirs": "3"}, "status": {"phase": "x"}}
    before = {"data": {"mine": "1", "dropped": "2"}}
    assert applied(live, before, {"data": {"mine": "9"}}) == {
        "data": {"mine": "9", "theirs": "3"},
        "status": {"phase": "x"},
    }


def test_no_patch_changes_its_input() -> None:
    before = str(ITEM)
    patched(ITEM, {"containers": [{"name": "x", "image": "2"}]}, STRATEGIC)
    patched(ITEM, {"metadata": None}, MERGE)
    assert str(ITEM) == before


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        patched(ITEM, {}, "text/plain")
    assert refused.value.code == 415
