"""The chart on a cluster: the real helm installs it on our API server, upgrades, tests and uninstalls it."""

import asyncio
import base64
import json
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import uvicorn
import yaml
from starlette.applications import Starlette
from starlette.routing import Route

from app.web.inbox import Inbox
from app.web.metrics import Metrics
from app.web.webhooks import Receiver
from k8s.boxes import BoxState
from k8s.cluster import Cluster
from k8s.kubernetes_boxes import KubernetesBoxes
from k8s.options import PodOptions
from k8s.rights import missing_rights
from tests.charts.previous import previous_chart
from tests.charts.render import CHART, HELMS, NEEDED, helm, merged
from tests.k8s.cluster.conftest import settled
from tests.k8s.cluster_double.kubelet.process import Programs
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.server import SmallCluster, small_cluster
from tests.k8s.objects import spec
from tests.tools import need

Object = dict[str, Any]

SECRET = "webhook-secret-of-the-test"


class Installed:
    """A cluster with a namespace `team`, and helm at work in it."""

    def __init__(self, cluster: SmallCluster, program: str, database: Path) -> None:
        self.cluster = cluster
        self.program = program
        self.database = database
        external = {"databaseUrl": {"existingSecret": "database", "key": "url"}}
        production = {"postgresql": {"enabled": False}, "secrets": external}
        self.values = merged(NEEDED, production)

    async def helm(self, *arguments: str, values: Object | None = None) -> str:
        env = {"KUBECONFIG": str(self.cluster.kubeconfig), "HOME": str(self.cluster.folder), "PATH": "/usr/bin:/bin"}
        done = await asyncio.to_thread(helm, self.program, "-n", "team", *arguments, values=values, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout

    async def install(self, *more: str, values: Object | None = None) -> str:
        wanted = merged(self.values, values or {})
        return await self.helm("install", "greenloop", str(CHART), "--timeout", "30s", *more, values=wanted)


@pytest.fixture(params=HELMS)
async def installed(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Installed]:
    need(request.param)
    programs = Programs.of_this_machine(greenloop=(sys.executable, "-m", "app"))
    async with small_cluster(
        tmp_path / "cluster", programs=programs, pace=0.1, restart_seconds=600, restart_limit=600
    ) as cluster:
        cluster.make_namespace("team", enforce="restricted")
        made = Installed(cluster, request.param, tmp_path / "greenloop.db")
        keys = {"private-key": "pem", "webhook-secrets": f"{SECRET}\nolder", "encryption-keys": "key"}
        for name, data in (("greenloop", keys), ("database", {"url": f"sqlite:///{made.database}"})):
            encoded = {key: _base64(value) for key, value in data.items()}
            cluster.make("Secret", "team", {"metadata": {"name": name}, "data": encoded})
        yield made


async def test_a_release_from_install_to_uninstall(installed: Installed, receiver: str, tmp_path: Path) -> None:
    cluster = installed.cluster
    cluster.kubelet.machine.services["http://greenloop-web.team.svc:8080"] = receiver
    previous = previous_chart(tmp_path / "previous")
    notes = await installed.helm("install", "greenloop", str(previous), "--timeout", "30s", values=installed.values)
    assert "helm -n team test greenloop" in notes
    assert installed.database.exists(), "the migration hook ran `greenloop migrate` in a pod"
    assert cluster.find("Job", "team", "greenloop-migrate") is None, "hooks that succeeded are removed"
    assert cluster.find("NetworkPolicy", "team", "greenloop-web") is None

    values = merged(installed.values, {"worker": {"replicas": 3}, "settings": {"CAP": 5}})
    await installed.helm("upgrade", "greenloop", str(CHART), "--timeout", "30s", values=values)
    assert (cluster.find("Deployment", "team", "greenloop-worker") or {})["spec"]["replicas"] == 3
    config = cluster.find("ConfigMap", "team", "greenloop") or {}
    assert config["data"]["GREENLOOP_CAP"] == "5"
    assert config["metadata"]["labels"]["helm.sh/chart"] == f"greenloop-{_version(CHART)}"
    assert cluster.find("NetworkPolicy", "team", "greenloop-web") is not None
    await _make_a_box_as_the_worker(cluster, config["data"])

    assert "Succeeded" in await installed.helm("test", "greenloop", "--timeout", "30s")

    await installed.helm("rollback", "greenloop", "1", "--timeout", "30s", "--no-hooks")
    assert "GREENLOOP_CAP" not in (cluster.find("ConfigMap", "team", "greenloop") or {})["data"]
    history = json.loads(await installed.helm("history", "greenloop", "-o", "json"))
    assert [entry["status"] for entry in history] == ["superseded", "superseded", "deployed"]

    await installed.helm("uninstall", "greenloop")
    assert cluster.find("Deployment", "team", "greenloop-web") is None
    assert cluster.find("Namespace", "", "team-boxes") is not None, "people's homes stay"


@pytest.mark.parametrize("hooks", [[], ["--no-hooks"]], ids=["hooks", "no hooks"])
async def test_an_uninstalled_release_leaves_no_box_behind(installed: Installed, hooks: list[str]) -> None:
    cluster, store = installed.cluster, installed.cluster.store
    await installed.install()
    await _make_a_box_as_the_worker(cluster, (cluster.find("ConfigMap", "team", "greenloop") or {})["data"])
    version = store.version
    await installed.helm("uninstall", "greenloop", "--timeout", "60s", *hooks)
    assert store.list(BY_KIND["Job"], "team") == []
    async with asyncio.timeout(120):  # the service's own pods have their grace, which helm does not wait for
        while store.list(BY_KIND["Pod"], "team-boxes") or store.list(BY_KIND["Pod"], "team"):
            await asyncio.sleep(0.1)
    assert [home["metadata"]["name"] for home in store.list(BY_KIND["PersistentVolumeClaim"], "team-boxes")]
    gone = [change.item for change in store.since(version) if change.after is None]
    kinds = [item["kind"] for item in gone if item["metadata"]["namespace"] == "team-boxes"]
    assert hooks or kinds.index("Pod") < kinds.index("NetworkPolicy"), "policies go last"


@pytest.mark.parametrize("installed", ["helm"], indirect=True)
async def test_a_release_whose_homes_are_not_kept_leaves_nothing_behind(installed: Installed) -> None:
    cluster, store = installed.cluster, installed.cluster.store
    await installed.install(values={"boxes": {"pod": {"home": {"keep": False}}}})
    await _make_a_box_as_the_worker(cluster, (cluster.find("ConfigMap", "team", "greenloop") or {})["data"])
    await installed.helm("uninstall", "greenloop", "--timeout", "60s")
    assert cluster.find("Namespace", "", "team-boxes") is None
    assert store.list(BY_KIND["PersistentVolumeClaim"]) == []


@pytest.mark.parametrize("installed", ["helm"], indirect=True)
async def test_of_two_releases_in_one_namespace_the_end_of_one_leaves_the_others_boxes(installed: Installed) -> None:
    cluster, store = installed.cluster, installed.cluster.store
    await installed.install("--no-hooks")
    shared = merged(installed.values, {"boxes": {"createNamespace": False}})
    await installed.helm("install", "second", str(CHART), "--no-hooks", values=shared)
    for release, person in (("greenloop", "1"), ("second-greenloop", "2")):
        data = (cluster.find("ConfigMap", "team", release) or {})["data"]
        await _make_a_box_as_the_worker(cluster, data, release, f"gl-of-{person}")
    version = store.version
    await installed.helm("uninstall", "second", "--timeout", "60s")
    async with asyncio.timeout(120):
        while [pod["metadata"]["name"] for pod in store.list(BY_KIND["Pod"], "team-boxes")] != ["gl-of-1"]:
            await asyncio.sleep(0.1)
    gone = {(each.item["kind"], each.item["metadata"]["name"]) for each in store.since(version) if each.after is None}
    assert not {name for _, name in gone if name.startswith("gl-of-1")}
    kept = {"ResourceQuota", "LimitRange", "NetworkPolicy", "Role", "RoleBinding", "ConfigMap"}
    assert {kind for kind in kept if store.list(BY_KIND[kind], "team-boxes")} == kept
    assert cluster.find("Namespace", "", "team-boxes") is not None


async def _make_a_box_as_the_worker(
    cluster: SmallCluster, data: dict[str, str], release: str = "greenloop", name: str = spec().name
) -> None:
    """With what the release gives the worker and nothing more: its account, its settings."""
    token = cluster.token_for("team", f"{release}-worker")
    kubeconfig = cluster.write_kubeconfig(cluster.folder / "worker", token, data["GREENLOOP_BOX_NAMESPACE"])
    connected = await Cluster.connect(data["GREENLOOP_BOX_NAMESPACE"], kubeconfig=kubeconfig)
    owner = data["GREENLOOP_BOX_OWNER"]
    assert await missing_rights(connected, owner) == []
    assert await missing_rights(connected, "another") == ["get configmaps another", "delete configmaps another"]
    elsewhere = await Cluster.connect("team", kubeconfig=kubeconfig)
    assert not await elsewhere.review("get", "", "secrets")
    assert not await connected.review("create", "", "pods/exec")
    await elsewhere.close()
    options = PodOptions.model_validate_json(data["GREENLOOP_BOX_POD"])
    changes = {"image": data["GREENLOOP_BOX_IMAGE"], "command": ["tini", "--", "sleep", "60"]}
    boxes = KubernetesBoxes(connected, data["GREENLOOP_INSTANCE"], options.model_copy(update=changes), owner)
    await boxes.ensure(spec(name, instance=data["GREENLOOP_INSTANCE"]))
    assert (await settled(boxes, name, 20)).state is BoxState.RUNNING
    await boxes.close()


@pytest.mark.parametrize("installed", ["helm"], indirect=True)
async def test_helm_test_fails_when_the_secret_is_not_the_one_the_service_has(
    installed: Installed, receiver: str
) -> None:
    installed.cluster.kubelet.machine.services["http://greenloop-web.team.svc:8080"] = receiver
    await installed.install("--no-hooks")
    secret = installed.cluster.find("Secret", "team", "greenloop") or {}
    secret["data"]["webhook-secrets"] = _base64("another")
    installed.cluster.api.update(BY_KIND["Secret"], "team", "greenloop", secret, strict=True)
    with pytest.raises(AssertionError, match=r"(?i)fail"):
        await installed.helm("test", "greenloop", "--timeout", "30s")


@pytest.mark.parametrize("installed", ["helm"], indirect=True)
async def test_the_trial_installs_with_nothing_but_the_three_secrets(installed: Installed) -> None:
    await installed.helm("install", "greenloop", str(CHART), values=NEEDED)
    secret = (installed.cluster.find("Secret", "team", "greenloop-postgresql") or {})["data"]
    again = ["upgrade", "greenloop", str(CHART), "--no-hooks"]
    await installed.helm(*again, values=merged(NEEDED, {"web": {"replicas": 1}}))
    assert (installed.cluster.find("Secret", "team", "greenloop-postgresql") or {})["data"] == secret


@pytest.fixture
def receiver() -> Iterator[str]:
    """The service's own webhook receiver; a ping never reaches the inbox."""
    taken = Receiver([SECRET.encode()], cast(Inbox, None), Metrics(), body_limit=1 << 20)
    app = Starlette(routes=[Route("/webhooks/github", taken)])
    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    server.should_exit = True
    thread.join()


def _version(chart: Path) -> str:
    return str(yaml.safe_load((chart / "Chart.yaml").read_text())["version"])


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
