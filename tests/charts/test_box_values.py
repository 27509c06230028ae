"""What the chart says of boxes is what the service reads."""

import pytest

from app.settings import Settings
from tests.charts.render import NEEDED, merged, one, render


def test_the_values_of_boxes_reach_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "isolation": "session",
        "limit": 7,
        "limitPerInstallation": 2,
        "warm": 3,
        "idleMinutes": 9,
        "homeDays": 5,
        "pod": {"runtimeClass": "gvisor", "nodeSelector": {"pool": "boxes"}},
    }
    for name, value in one(render(merged(NEEDED, {"boxes": values})), "ConfigMap", "greenloop")["data"].items():
        monkeypatch.setenv(name, value)
    found = Settings()
    assert (found.box_isolation, found.box_limit, found.box_limit_installation, found.box_warm) == ("session", 7, 2, 3)
    assert (found.box_idle_minutes, found.box_home_days) == (9, 5)
    assert (found.box_pod.runtime_class, found.box_pod.node_selector) == ("gvisor", {"pool": "boxes"})


def test_the_defaults_of_the_chart_are_those_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Settings()
    for name, value in one(render(NEEDED), "ConfigMap", "greenloop")["data"].items():
        monkeypatch.setenv(name, value)
    found = Settings()
    same = ("box_isolation", "box_limit", "box_limit_installation", "box_warm", "box_idle_minutes", "box_home_days")
    assert [getattr(found, name) for name in same] == [getattr(plain, name) for name in same]
    assert found.box_pod == plain.box_pod
