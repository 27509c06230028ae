"""What clusters, their platforms and their tools differ in, and what a release may be called."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.charts.matrix import MATRIX, PRODUCTION
from tests.charts.render import CHART, HELMS, NEEDED, helm, merged, one, pod_specs, render

Object = dict[str, Any]

GIVEN = MATRIX["what the platform gives"]


def test_on_a_platform_that_gives_user_ids_no_pod_asks_for_one() -> None:
    for name, found in pod_specs(render(GIVEN)).items():
        assert not found["securityContext"].keys() & {"runAsUser", "runAsGroup", "fsGroup"}, name
    assert {found["securityContext"]["runAsUser"] for found in pod_specs(render()).values()} == {1000, 70}


def test_every_pod_goes_where_it_may_and_finds_its_registry() -> None:
    specs = pod_specs(render(GIVEN))
    assert {"StatefulSet/greenloop-postgresql", "Deployment/greenloop-valkey"} < specs.keys()
    for name, found in specs.items():
        assert found["imagePullSecrets"] == [{"name": "registry"}], name
        if name == "DaemonSet/greenloop-pre-puller":
            assert "nodeSelector" not in found, "it goes where the boxes go"
            continue
        assert found["tolerations"] == [{"operator": "Exists"}], name
        assert found["nodeSelector"] == {"pool": "workers" if name.endswith("-worker") else "all"}, name


def test_the_pre_puller_goes_where_the_boxes_go() -> None:
    boxes = MATRIX["hardened boxes"]["boxes"]["pod"]
    found = pod_specs(render(MATRIX["hardened boxes"]))["DaemonSet/greenloop-pre-puller"]
    assert (found["nodeSelector"], found["tolerations"]) == (boxes["nodeSelector"], boxes["tolerations"])


@pytest.mark.parametrize("program", HELMS)
@pytest.mark.parametrize("values", [PRODUCTION, GIVEN], ids=["own database", "own password"])
def test_without_a_cluster_to_ask_two_renderings_are_the_same(program: str, values: Object) -> None:
    first, second = (
        helm(program, "template", "greenloop", str(CHART), values=merged(NEEDED, values)).stdout for _ in range(2)
    )
    assert first == second
    assert "kind: Deployment" in first


def test_argo_cd_makes_the_migration_of_a_trial_anew_with_each_sync() -> None:
    annotations = one(render(GIVEN), "Job", "greenloop-migrate-first")["metadata"]["annotations"]
    assert annotations["argocd.argoproj.io/hook-delete-policy"] == "BeforeHookCreation"


def test_a_database_secret_of_ones_own_is_the_one_that_all_read() -> None:
    items = render(GIVEN)
    assert not [item for item in items if item["kind"] == "Secret"]
    for name, found in pod_specs(items).items():
        for container in found["containers"]:
            env = {item["name"]: item for item in container.get("env", [])}
            if "POSTGRES_PASSWORD" in env:
                source = env["POSTGRES_PASSWORD"]["valueFrom"]["secretKeyRef"]
                assert source == {"name": "database", "key": "password"}, name


@pytest.mark.parametrize(
    ("release", "values"),
    [
        ("my.release", {}),
        ("r" * 53, {}),
        ("a-" * 26 + "a", {}),
        ("x", {"fullnameOverride": "f" * 63}),
        ("x", {"nameOverride": "n" * 63}),
    ],
)
def test_whatever_the_release_is_called_the_names_of_its_objects_are_valid(release: str, values: Object) -> None:
    done = helm(
        "helm", "template", release, str(CHART), "-n", "n" * 63, values=merged(merged(PRODUCTION, NEEDED), values)
    )
    assert done.returncode == 0, done.stderr
    for item in yaml.safe_load_all(done.stdout):
        metadata = item["metadata"]
        for name in (metadata["name"], metadata.get("namespace", "n")):
            assert re.fullmatch(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", name), (item["kind"], name)
        for value in metadata["labels"].values():
            assert len(value) <= 63


@pytest.mark.parametrize("program", HELMS)
def test_it_can_be_a_part_of_a_larger_chart(program: str, tmp_path: Path) -> None:
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts" / "greenloop").symlink_to(CHART)
    needs = [{"name": "greenloop", "version": ">=0.0.0", "condition": "greenloop.enabled"}]
    about = {"apiVersion": "v2", "name": "platform", "version": "1.0.0", "dependencies": needs}
    (tmp_path / "Chart.yaml").write_text(yaml.safe_dump(about))
    for enabled in (True, False):
        values = {"global": {"team": "a"}, "greenloop": merged(NEEDED, {"enabled": enabled})}
        done = helm(program, "template", "x", str(tmp_path), values=values)
        assert done.returncode == 0, done.stderr
        assert ("kind: Deployment" in done.stdout) is enabled


def test_the_extra_volumes_are_templates() -> None:
    for name in ("Deployment/greenloop-web", "Deployment/greenloop-worker", "Job/greenloop-migrate-first"):
        volumes = {volume["name"]: volume for volume in pod_specs(render(GIVEN))[name]["volumes"]}
        assert volumes["ca"]["configMap"]["name"] == "greenloop-ca"
