"""The chart's alerts in Prometheus' own `promtool`: figures as they were scraped go in, what fires comes out."""

import json
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.charts.matrix import PRODUCTION
from tests.charts.render import merged, one, render
from tests.tools import need

Object = dict[str, Any]

RELEASE = {"namespace": "team", "service": "greenloop-metrics"}
"""What the Prometheus operator adds to each series, by which the alerts tell their own release's from others'."""
ALL = merged(PRODUCTION, {"monitoring": {"prometheusRule": {"silenceSeconds": 3600}}})


def groups(values: Object = ALL) -> list[Object]:
    """The alerts as the chart renders them."""
    found: list[Object] = one(render(values), "PrometheusRule", "greenloop")["spec"]["groups"]
    return found


def alerts(values: Object = ALL) -> dict[str, Object]:
    return {rule["alert"]: rule for group in groups(values) for rule in group["rules"]}


def panels() -> list[str]:
    """The expressions of the dashboard."""
    made = json.loads(one(render(ALL), "ConfigMap", "greenloop-dashboard")["data"]["greenloop.json"])
    found = [target["expr"] for panel in made["panels"] for target in panel["targets"]]
    return [expression.replace("$namespace", RELEASE["namespace"]) for expression in found]


def check(folder: Path, rules: list[Object]) -> None:
    """Have the rules parsed."""
    file = folder / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": rules}))
    done = subprocess.run([need("promtool"), "check", "rules", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def fires(folder: Path, name: str, scrapes: Sequence[str], *, quiet: int, loud: int) -> None:
    """Hold the alert against figures that were scraped once a minute: silent at minute `quiet`, fired at `loud`."""
    alert = alerts()[name]
    expected = {"exp_labels": alert["labels"], "exp_annotations": alert["annotations"]}
    (folder / "rules.yaml").write_text(yaml.safe_dump({"groups": groups()}))
    test = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": key, "values": values} for key, values in _series(scrapes).items()],
                "alert_rule_test": [
                    {"eval_time": f"{quiet}m", "alertname": name, "exp_alerts": []},
                    {"eval_time": f"{loud}m", "alertname": name, "exp_alerts": [expected]},
                ],
            }
        ],
    }
    (folder / "test.yaml").write_text(yaml.safe_dump(test, width=10_000))
    command = [need("promtool"), "test", "rules", "test.yaml"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def names(scrape: str) -> dict[str, set[str]]:
    """The series of a scrape with the names of their labels."""
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(scrape):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def _series(scrapes: Sequence[str]) -> dict[str, str]:
    values: dict[str, list[str]] = {}
    for minute, scrape in enumerate(scrapes):
        for family in text_string_to_metric_families(scrape):
            for sample in family.samples:
                key = sample.name + _braced({**sample.labels, **RELEASE})
                column = values.setdefault(key, [])
                column += ["_"] * (minute - len(column))
                column.append(repr(float(sample.value)).replace("inf", "Inf").replace("nan", "NaN"))
    return {key: " ".join([*column, *["_"] * (len(scrapes) - len(column))]) for key, column in values.items()}


def _braced(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in sorted(labels.items())) + "}"


def expressions(rules: Iterable[Object]) -> list[str]:
    return [rule["expr"] for rule in rules]
