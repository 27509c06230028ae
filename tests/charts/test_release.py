"""How the chart is published: its number is the product's, and its registry gives back what was pushed."""

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.charts.admin import ROOT
from tests.charts.registry import registry
from tests.charts.render import CHART, HELMS
from tests.tools import need

Object = dict[str, Any]

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
WORKFLOW = ROOT / ".github/workflows/release.yml"


def number(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / ".ci/release-number", *arguments], capture_output=True, text=True, check=False)


def test_chart_images_and_changes_carry_the_products_number() -> None:
    found = number(f"v{VERSION}")
    assert (found.returncode, found.stdout.strip()) == (0, VERSION), found.stderr


def test_a_tag_of_another_number_is_refused() -> None:
    found = number("v99.0.0")
    assert found.returncode == 1
    assert f"pyproject.toml has {VERSION}" in found.stderr and "the tag has 99.0.0" in found.stderr


@pytest.mark.parametrize("program", HELMS)
def test_the_published_chart_is_had_from_its_registry_by_the_products_number(program: str, tmp_path: Path) -> None:
    tool = need(program)
    env = {**os.environ, "HELM": tool, "HOME": str(tmp_path)}
    with registry() as served:
        where = f"oci://{served.address}/acme/charts"
        pushed = subprocess.run(
            [ROOT / ".ci/publish-chart", where, "--plain-http"], env=env, capture_output=True, text=True, check=False
        )
        assert pushed.returncode == 0, pushed.stderr
        shown = subprocess.run(
            [tool, "show", "chart", f"{where}/greenloop", "--version", VERSION, "--plain-http"],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
    about = yaml.safe_load(shown.stdout)
    assert (about["name"], about["version"], about["appVersion"]) == ("greenloop", VERSION, VERSION)


def test_the_workflow_runs_what_the_repository_has_and_builds_what_the_chart_names() -> None:
    workflow: Object = yaml.safe_load(WORKFLOW.read_text())
    jobs = workflow["jobs"]
    scripts = set(re.findall(r"(?:\.ci|k8s/images)/[\w-]+", WORKFLOW.read_text()))
    assert scripts >= {".ci/release-number", ".ci/publish-chart", "k8s/images/build", "k8s/images/sbom"}
    for script in scripts:
        assert os.access(ROOT / script, os.X_OK), script
    for name, job in jobs.items():
        needed = job.get("needs", [])
        assert {needed} <= set(jobs) if isinstance(needed, str) else set(needed) <= set(jobs), name
        assert all("uses" not in step for step in job["steps"]), "nobody else's code sees the token"
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    named = {part["image"]["repository"].rpartition("/")[2] for part in (values, values["boxes"])}
    matrix = jobs["image"]["strategy"]["matrix"]
    assert {image["name"] for image in matrix["image"]} == named == set(jobs["index"]["strategy"]["matrix"]["name"])
    for image in matrix["image"]:
        assert (ROOT / f"k8s/images/{image['what']}.Dockerfile").exists()
    joined = jobs["index"]["steps"][0]["run"]
    assert {machine["architecture"] for machine in matrix["machine"]} == set(re.findall(r"\$IMAGE-(\w+)", joined))
    assert workflow["permissions"] == {"contents": "read"}
