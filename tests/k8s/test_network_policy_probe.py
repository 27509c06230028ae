"""What closes boxes off, and a box that tries whether it does."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes_validate.utils import validate

from app.commands.doctor.reach_checks import MOST_PLACES
from k8s import connecting
from k8s.cluster import Cluster
from k8s.identity import instance_labels
from k8s.network_policy_probe import ProbeFailed, isolation, missing_isolation, probe_pod, reach
from k8s.options import PodOptions
from k8s.rights import rules
from tests.k8s.cluster_double.admission.podsecurity import violations
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.server import SmallCluster, small_cluster
from tests.k8s.objects import IMAGE

Object = dict[str, Any]
OPTIONS = PodOptions(image=IMAGE, grace_seconds=1)
OURS = instance_labels("greenloop")


def policy(selector: Object, **spec: Any) -> Object:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "p"},
        "spec": {"podSelector": selector, **spec},
    }


@pytest.mark.parametrize(
    ("policies", "closed"),
    [
        ([], set()),
        ([policy({}, policyTypes=["Ingress", "Egress"])], {"Ingress", "Egress"}),
        ([policy({"matchLabels": OURS}, policyTypes=["Egress"])], {"Egress"}),
        ([policy({})], {"Ingress"}),
        ([policy({}, egress=[])], {"Ingress", "Egress"}),
        ([policy({"matchLabels": {"app": "other"}}, policyTypes=["Ingress", "Egress"])], set()),
        ([policy({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, policyTypes=["Egress"])], set()),
        ([policy({}, policyTypes=["Ingress"]), policy({}, policyTypes=["Egress"])], {"Ingress", "Egress"}),
    ],
)
def test_policies_close_what_they_name_to_the_pods_they_select(policies: list[Object], closed: set[str]) -> None:
    assert isolation(policies, OURS) == closed


def test_the_box_that_tries_is_one_for_policies_and_has_no_home_and_no_secret() -> None:
    pod = probe_pod("greenloop", OPTIONS.model_copy(update={"runtime_class": "gvisor"}), [["a:1"], "", 0])
    validate(pod, "1.36", strict=True)
    assert violations(pod["spec"], "restricted") == []
    assert OURS.items() <= pod["metadata"]["labels"].items()
    assert "greenloop/spare" not in pod["metadata"]["labels"]
    assert pod["spec"]["runtimeClassName"] == "gvisor"
    assert {volume["name"]: set(volume) - {"name"} for volume in pod["spec"]["volumes"]} == {
        "home": {"emptyDir"},
        "tmp": {"emptyDir"},
    }


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[SmallCluster]:
    async with small_cluster(tmp_path / "cluster") as cluster:
        cluster.make_namespace("boxes", enforce="restricted")
        yield cluster


@contextlib.asynccontextmanager
async def as_worker(small: SmallCluster) -> AsyncIterator[Cluster]:
    """With the rights of the chart's Role, which are not to look at policies nor to read logs."""
    small.make("Role", "boxes", {"metadata": {"name": "worker"}, "rules": rules()})
    subject = {"kind": "ServiceAccount", "name": "worker", "namespace": "boxes"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "worker"}
    small.make("RoleBinding", "boxes", {"metadata": {"name": "worker"}, "roleRef": role, "subjects": [subject]})
    kubeconfig = small.write_kubeconfig(small.folder / "worker", small.token_for("boxes", "worker"), "boxes")
    cluster = await Cluster.connect("boxes", kubeconfig=kubeconfig)
    yield cluster
    await cluster.close()


async def test_a_box_tells_what_it_reaches_and_is_gone_again(small: SmallCluster) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    there = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with as_worker(small) as cluster:
        places = ["127.0.0.1:1", there, "nowhere.invalid:80"]
        found = await reach(cluster, "greenloop", OPTIONS, places=places, seconds=60, settle=0)
    assert [found.by(place) for place in places] == [[], ["IPv4"], []]
    assert found.why_not("127.0.0.1:1") == "Connection refused (IPv4)"
    assert found.why_not("nowhere.invalid:80") == "its name is not found"
    assert found.status == 0, "nothing was asked"
    assert small.store.list(BY_KIND["Pod"], "boxes") == []
    server.close()


async def test_a_place_of_ipv6_that_is_open_is_told(small: SmallCluster) -> None:
    try:
        server = await asyncio.start_server(lambda _, writer: writer.close(), "::1", 0)
    except OSError as error:
        pytest.skip(f"this machine has no IPv6: {error}")
    there = f"[::1]:{server.sockets[0].getsockname()[1]}"
    async with as_worker(small) as cluster:
        found = await reach(cluster, "greenloop", OPTIONS, places=[there, "[::1]:1"], seconds=60, settle=0)
    assert (found.by(there), found.by("[::1]:1")) == (["IPv6"], [])
    server.close()


def test_what_a_box_says_of_many_places_is_not_cut_off() -> None:
    places = ["127.0.0.1:1"] * MOST_PLACES
    argument = json.dumps([places, "", 0])
    shortest = len(connecting.main(argument))
    assert shortest + MOST_PLACES * 2 * connecting.WORDS < 2000


async def test_a_box_that_cannot_start_says_why_and_is_gone_again(small: SmallCluster) -> None:
    small.kubelet.machine.images = set()
    async with as_worker(small) as cluster:
        with pytest.raises(ProbeFailed, match=r"ErrImagePull|ImagePullBackOff"):
            await reach(cluster, "greenloop", OPTIONS, places=["a:1"], seconds=2, settle=0)
    assert small.store.list(BY_KIND["Pod"], "boxes") == []


async def test_who_may_not_look_at_policies_is_not_told_that_there_are_none(small: SmallCluster) -> None:
    async with as_worker(small) as cluster:
        assert await missing_isolation(cluster, "greenloop") is None
    admin = await Cluster.connect("boxes", kubeconfig=small.kubeconfig)
    assert await missing_isolation(admin, "greenloop") == {"Ingress", "Egress"}
    small.make("NetworkPolicy", "boxes", policy({}, policyTypes=["Ingress", "Egress"]))
    assert await missing_isolation(admin, "greenloop") == set()
    await admin.close()
