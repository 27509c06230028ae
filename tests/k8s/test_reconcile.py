from datetime import UTC, datetime
from typing import Any

import pytest

from k8s.boxes import Known
from k8s.identity import box_labels
from k8s.reconcile import plan

NOW = 1_000_000_000.0
DAY = 86400.0


def item(kind: str, box: str = "gl-a", *, age: float = 3600.0, phase: str = "Running") -> dict[str, Any]:
    suffix = {"Pod": "", "Secret": "-token", "PersistentVolumeClaim": "-home"}[kind]
    made = datetime.fromtimestamp(NOW - age, UTC).isoformat().replace("+00:00", "Z")
    return {
        "kind": kind,
        "metadata": {
            "name": box + suffix,
            "uid": f"uid-{kind}-{box}",
            "creationTimestamp": made,
            "labels": box_labels("greenloop", box, {"installation": "7"}),
        },
        "status": {"phase": phase},
    }


def trio(box: str = "gl-a", **values: Any) -> list[dict[str, Any]]:
    return [item(kind, box, **values) for kind in ("Pod", "PersistentVolumeClaim", "Secret")]


def kinds(known: dict[str, Known], items: list[dict[str, Any]], **limits: float) -> set[str]:
    return {deletion.kind for deletion in plan(items, known, now=NOW, **limits).deletions}


def test_a_box_that_the_database_does_not_know_goes_with_its_home_and_secret() -> None:
    assert kinds({}, trio()) == {"Pod", "PersistentVolumeClaim", "Secret"}


def test_a_young_unknown_box_stays_for_another_worker_may_just_be_making_it() -> None:
    assert kinds({}, trio(age=299)) == set()
    assert kinds({}, trio(age=301)) == {"Pod", "PersistentVolumeClaim", "Secret"}


def test_a_busy_box_is_never_touched_however_old() -> None:
    assert kinds({"gl-a": Known(busy=True, used_at=0)}, trio(age=1000 * DAY)) == set()


@pytest.mark.parametrize(
    ("idle", "gone"),
    [
        (29 * 60, set()),
        (31 * 60, {"Pod", "Secret"}),
        (13.9 * DAY, {"Pod", "Secret"}),
        (14.1 * DAY, {"Pod", "Secret", "PersistentVolumeClaim"}),
    ],
)
def test_an_idle_box_loses_its_pod_first_and_its_home_much_later(idle: float, gone: set[str]) -> None:
    assert kinds({"gl-a": Known(busy=False, used_at=NOW - idle)}, trio(age=100 * DAY)) == gone


def test_limits_are_the_operators() -> None:
    known = {"gl-a": Known(busy=False, used_at=NOW - 120)}
    assert kinds(known, trio(), idle_seconds=60, home_seconds=100) == {"Pod", "Secret", "PersistentVolumeClaim"}


def test_a_pod_that_ended_goes_at_once_and_its_home_stays() -> None:
    assert kinds({"gl-a": Known(busy=False, used_at=NOW)}, trio(phase="Failed")) == {"Pod"}


def test_a_spare_is_not_idle() -> None:
    assert kinds({"gl-a": Known(busy=False, used_at=0, spare=True)}, trio(age=100 * DAY)) == set()


def test_what_is_being_deleted_already_is_left_alone() -> None:
    items = trio()
    for deleted in items:
        deleted["metadata"]["deletionTimestamp"] = "2026-11-29T10:05:00Z"
    assert kinds({}, items) == set()


def test_busy_boxes_without_a_living_pod_are_missing() -> None:
    known = {name: Known(busy=True, used_at=NOW) for name in ("gl-a", "gl-b", "gl-c")}
    known["gl-d"] = Known(busy=False, used_at=NOW)
    items = [*trio("gl-a"), *trio("gl-b", phase="Failed")]
    assert plan(items, known, now=NOW).missing == ("gl-b", "gl-c")
