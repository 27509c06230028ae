"""What alerts, dashboard and autoscalers of the chart name is really told by a service at work."""

import re
from pathlib import Path

import httpx
import yaml

from tests.app.web import test_alerts
from tests.charts.promtool import RELEASE, alerts, check, names, panels
from tests.charts.render import CHART, one, render
from tests.e2e.cluster import RIGHT
from tests.e2e.house import House

SERIES = re.compile(r"\b(greenloop_[a-z_]+)\{([^}]*)\}")
KEDA = yaml.safe_load((CHART / "examples" / "keda-values.yaml").read_text())


def keda_query() -> str:
    query: str = one(render(KEDA), "ScaledObject", "greenloop-worker")["spec"]["triggers"][0]["metadata"]["query"]
    return query


def test_every_expression_is_one_of_prometheus(tmp_path: Path) -> None:
    shown = [*panels(), keda_query()]
    records = [{"record": f"shown:{number}", "expr": expression} for number, expression in enumerate(shown)]
    check(tmp_path, [{"name": "alerts", "rules": list(alerts().values())}, {"name": "shown", "rules": records}])


def test_no_alert_is_without_a_test_of_the_fault_that_it_is_for() -> None:
    assert set(re.findall(r'"(Greenloop[A-Z]\w+)"', Path(test_alerts.__file__).read_text())) == set(alerts())


def test_keda_scales_the_workers_in_place_of_the_chart() -> None:
    items = render(KEDA)
    scaled = one(items, "ScaledObject", "greenloop-worker")["spec"]
    target = one(items, "Deployment", scaled["scaleTargetRef"]["name"])
    assert "replicas" not in target["spec"], "an upgrade must not take back what KEDA has set"
    assert one(items, "ServiceMonitor", "greenloop")


async def test_each_series_that_the_chart_names_is_scraped_from_a_service_at_work(tmp_path: Path) -> None:
    house = House(tmp_path)
    try:
        await house.start()
        house.agent(RIGHT)
        await house.comment(await house.issue(), "@greenloop fix it")
        assert (await house.ended()).outcome == "green"
        async with httpx.AsyncClient() as http:
            scrapes = [(await http.get(f"{url}/metrics")).text for url in (house.settings.public_url, house.worker_url)]
    finally:
        await house.close()
    told: dict[str, set[str]] = {}
    for scrape in scrapes:
        for name, labels in names(scrape).items():
            told.setdefault(name, set()).update(labels)
    expressions = [*(rule["expr"] for rule in alerts().values()), *panels(), keda_query()]
    named = [(name, labels, expression) for expression in expressions for name, labels in SERIES.findall(expression)]
    assert len({name for name, _, _ in named}) > 7
    for name, labels, expression in named:
        assert name in told, f"nothing tells {name}, which stands in {expression}"
        wanted = set(re.findall(r"([a-z_]+)=", labels)) | set(re.findall(r"\bby \(([a-z]+)\)", expression)) - {"le"}
        assert wanted - set(RELEASE) <= told[name], expression
    scaler = render({"worker": {"autoscaling": {"enabled": True}}})
    [metric] = one(scaler, "HorizontalPodAutoscaler", "greenloop-worker")["spec"]["metrics"]
    assert metric["external"]["metric"]["name"] in told
