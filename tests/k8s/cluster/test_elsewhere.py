"""The tests for any cluster, on one that they know by its kubeconfig alone, as `make test-cluster` runs them."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.k8s import namespaces
from tests.k8s.apiserver.clients import connect_by
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.server import small_cluster
from tests.k8s.objects import IMAGE

NAMESPACE = BY_KIND["Namespace"]
HERE = Path(__file__).with_name("test_kubernetes_boxes.py")
SOME = ("test_a_box_comes_to_run_and_stops_without_its_home", "test_a_full_quota_is_no_failure_but_waiting")


@pytest.mark.timeout(300)
async def test_a_kubeconfig_and_an_image_are_all_that_the_tests_for_a_cluster_need(tmp_path: Path) -> None:
    async with small_cluster(tmp_path / "cluster") as cluster:
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        env |= {"GREENLOOP_TEST_KUBECONFIG": str(cluster.kubeconfig), "GREENLOOP_TEST_IMAGE": IMAGE}
        options = ("-q", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "inner"))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "pytest", *options, *(f"{HERE}::{name}" for name in SOME),
            env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        said, _ = await process.communicate()
        assert process.returncode == 0, said.decode()
        left = [item["metadata"]["name"] for item in cluster.store.list(NAMESPACE)]
    assert left == ["default"], "the tests clean up after themselves"


async def test_what_a_run_left_behind_goes_and_what_others_made_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(namespaces, "RUN", "17")
    async with small_cluster(tmp_path / "cluster") as cluster:
        ours = namespaces.fresh()
        for name in (ours, "greenloop-test-18-other", "greenloop-test-1712", "greenloop"):
            cluster.make_namespace(name)
        cluster.make("ConfigMap", ours, {"metadata": {"name": "held", "finalizers": ["example.com/wait"]}})
        async with connect_by(cluster.kubeconfig, tmp_path) as client:
            assert await namespaces.remove_left(client, 0) == [ours], "it is told while it stays"
            held = cluster.find("ConfigMap", ours, "held")
            assert held is not None
            del held["metadata"]["finalizers"]
            cluster.api.update(BY_KIND["ConfigMap"], ours, "held", held, strict=True)
            assert await namespaces.remove_left(client, 60) == []
            monkeypatch.setattr(namespaces, "RUN", "")
            with pytest.raises(ValueError, match="names no run"):
                await namespaces.remove_left(client, 0)
        left = {item["metadata"]["name"] for item in cluster.store.list(NAMESPACE)}
    assert left == {"default", "greenloop-test-18-other", "greenloop-test-1712", "greenloop"}
