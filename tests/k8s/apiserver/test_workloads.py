"""Deployments, stateful sets and services as a chart needs them: real processes, probes, addresses, restarts."""

import asyncio
import base64
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.k8s.cluster_double.network import ready, resolved
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.server import SmallCluster, small_cluster

Object = dict[str, Any]
POD = BY_KIND["Pod"]

# answers each connection with its own name; ready only while `gate` lies beside the log
SERVE = """
import pathlib, socket, sys
server = socket.create_server((sys.argv[1], 7000))
while True:
    connection, _ = server.accept()
    connection.sendall(sys.argv[2].encode())
    connection.close()
"""


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[SmallCluster]:
    async with small_cluster(tmp_path / "cluster", pace=0.02, restart_seconds=0.05) as cluster:
        yield cluster


def template(says: str = "one", **container: Any) -> Object:
    made = {
        "name": "main",
        "image": "registry.example/server:1",
        "command": [sys.executable, "-c", SERVE, "0.0.0.0", says],  # noqa: S104
        "ports": [{"name": "main", "containerPort": 7000}],
        "readinessProbe": {"tcpSocket": {"port": "main"}, "periodSeconds": 1},
        **container,
    }
    return {"metadata": {"labels": {"app": "server"}}, "spec": {"containers": [made]}}


def workload(kind: str, replicas: int, pod: Object, **more: Any) -> Object:
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "server"}}, "template": pod, **more}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "server"}, "spec": spec}


def service(cluster: SmallCluster) -> str:
    """Make the service; its address."""
    spec = {"selector": {"app": "server"}, "ports": [{"port": 80, "targetPort": "main"}]}
    made = cluster.make("Service", "default", {"metadata": {"name": "server"}, "spec": spec})
    return str(made["spec"]["clusterIP"])


def pods(cluster: SmallCluster) -> list[Object]:
    return [pod for pod in cluster.store.list(BY_KIND["Pod"], "default") if "deletionTimestamp" not in pod["metadata"]]


async def until(what: Callable[[], object], seconds: float = 120) -> None:
    async with asyncio.timeout(seconds):
        while not what():
            await asyncio.sleep(0.02)


async def answer(address: str) -> str:
    reader, writer = await asyncio.open_connection(address, 80)
    said = await reader.read()
    writer.close()
    return said.decode()


def update(cluster: SmallCluster, kind: str, body: Object) -> None:
    cluster.api.update(BY_KIND[kind], "default", "server", body, strict=True)


async def test_a_deployment_serves_behind_its_service_and_rolls_to_a_new_version(cluster: SmallCluster) -> None:
    address = service(cluster)
    cluster.make("Deployment", "default", workload("Deployment", 2, template()))
    await until(lambda: sum(map(ready, pods(cluster))) == 2)
    assert len({pod["status"]["podIP"] for pod in pods(cluster)}) == 2, "both listen on the same port"
    assert await answer(address) == "one"
    assert await answer(address) == "one"
    update(cluster, "Deployment", workload("Deployment", 1, template("two")))
    await until(lambda: [pod["spec"]["containers"][0]["command"][-1] for pod in pods(cluster)] == ["two"])
    assert await answer(address) == "two"
    found = cluster.find("Deployment", "default", "server") or {}
    assert found["status"]["readyReplicas"] == found["status"]["updatedReplicas"] == 1
    cluster.api.delete(BY_KIND["Deployment"], "default", "server", {})
    await until(lambda: not cluster.store.list(BY_KIND["Pod"], "default"))
    assert await answer(address) == "", "nothing is behind it any more"


async def test_a_variable_may_name_one_that_stands_before_it(cluster: SmallCluster) -> None:
    service(cluster)
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)$(A) $$(A) $(C) $A"}, {"name": "C", "value": "3"}]
    command = [sys.executable, "-c", "import os; raise SystemExit(os.environ['B'])"]
    pod = {"name": "main", "image": "server:1", "command": command, "env": env}
    pod["terminationMessagePolicy"] = "FallbackToLogsOnError"
    cluster.make(
        "Pod", "default", {"metadata": {"name": "once"}, "spec": {"restartPolicy": "Never", "containers": [pod]}}
    )
    await until(lambda: pods(cluster)[0]["status"]["phase"] == "Failed")
    [status] = pods(cluster)[0]["status"]["containerStatuses"]
    assert status["state"]["terminated"]["message"].strip() == "11 $(A) $(C) $A"


async def test_a_pod_that_is_not_ready_gets_no_traffic(cluster: SmallCluster) -> None:
    address = service(cluster)
    never = {"exec": {"command": [sys.executable, "-c", "raise SystemExit(1)"]}, "timeoutSeconds": 20}
    cluster.make("Deployment", "default", workload("Deployment", 1, template(readinessProbe=never)))
    await until(lambda: pods(cluster) and pods(cluster)[0]["status"]["phase"] == "Running")
    assert await answer(address) == ""
    assert (cluster.find("Deployment", "default", "server") or {})["status"]["readyReplicas"] == 0


async def test_a_container_that_ends_is_started_again_and_says_so(cluster: SmallCluster) -> None:
    short = template(command=[sys.executable, "-c", "raise SystemExit(3)"], readinessProbe={})
    del short["spec"]["containers"][0]["readinessProbe"]
    cluster.make("Deployment", "default", workload("Deployment", 1, short))

    def restarted() -> bool:
        statuses = [status for pod in pods(cluster) for status in pod["status"].get("containerStatuses", [])]
        return any(
            status["restartCount"] > 1
            and status["state"].get("waiting", {}).get("reason") == "CrashLoopBackOff"
            and status["lastState"]["terminated"]["exitCode"] == 3
            for status in statuses
        )

    await until(restarted)


async def test_a_container_that_is_not_alive_is_killed_and_started_again(cluster: SmallCluster) -> None:
    dead = {"exec": {"command": [sys.executable, "-c", "raise SystemExit(1)"]}, "timeoutSeconds": 20}
    cluster.make("Deployment", "default", workload("Deployment", 1, template(livenessProbe=dead)))
    await until(
        lambda: any(
            status["restartCount"] and status["lastState"].get("terminated", {}).get("exitCode") == 137
            for pod in pods(cluster)
            for status in pod["status"].get("containerStatuses", [])
        )
    )


async def test_a_stateful_set_keeps_name_and_volume_of_its_pod(cluster: SmallCluster) -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    more: Object = {"serviceName": "server", "volumeClaimTemplates": [claim]}
    pod = template(volumeMounts=[{"name": "data", "mountPath": "/data"}])
    cluster.make("StatefulSet", "default", workload("StatefulSet", 1, pod, **more))
    await until(lambda: [each["metadata"]["name"] for each in pods(cluster) if ready(each)] == ["server-0"])
    volume = cluster.find("PersistentVolumeClaim", "default", "data-server-0")
    pod = template("two", volumeMounts=[{"name": "data", "mountPath": "/data"}])
    update(cluster, "StatefulSet", workload("StatefulSet", 1, pod, **more))
    await until(
        lambda: [each["spec"]["containers"][0]["command"][-1] for each in pods(cluster) if ready(each)] == ["two"]
    )
    assert pods(cluster)[0]["metadata"]["name"] == "server-0"
    cluster.api.delete(BY_KIND["StatefulSet"], "default", "server", {})
    await until(lambda: not cluster.store.list(BY_KIND["Pod"], "default"))
    kept = cluster.find("PersistentVolumeClaim", "default", "data-server-0")
    assert kept is not None and volume is not None and kept["metadata"]["uid"] == volume["metadata"]["uid"]


async def test_what_is_changed_or_deleted_before_anybody_looks_stops_nothing(cluster: SmallCluster) -> None:
    """A release that goes as it comes up: each part of a cluster acts on what is there, not on what it was told of."""
    cluster.make("Pod", "default", {**template(), "metadata": {"name": "brief", "labels": {"app": "server"}}})
    cluster.api.delete(POD, "default", "brief", {})
    made = cluster.make("Pod", "default", {**template(), "metadata": {"name": "brief", "labels": {"app": "server"}}})
    cluster.store.update(POD, made | {"metadata": {**made["metadata"], "labels": {"app": "server", "new": "yes"}}})
    for name, more in (("Deployment", {}), ("StatefulSet", {"serviceName": "server"})):
        cluster.make(name, "default", workload(name, 1, template(), **more))
        cluster.api.delete(BY_KIND[name], "default", "server", {})
    cluster.store.compact()
    cluster.make("Deployment", "default", workload("Deployment", 1, template()))
    await until(lambda: sum(map(ready, pods(cluster))) == 2)
    assert {pod["metadata"]["labels"].get("new") for pod in pods(cluster)} == {"yes", None}


async def test_a_secret_that_changes_leaves_the_files_of_other_volumes_to_their_container(
    cluster: SmallCluster,
) -> None:
    cluster.make("Secret", "default", {"metadata": {"name": "key"}, "stringData": {"word": "old"}})
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    made = cluster.make("PersistentVolumeClaim", "default", {"metadata": {"name": "data"}, "spec": claim})
    pod = template(volumeMounts=[{"name": name, "mountPath": f"/{name}"} for name in ("key", "data")])
    volumes: list[Object] = [
        {"name": "key", "secret": {"secretName": "key"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
    ]
    body = {"metadata": {"name": "holder"}, "spec": {**pod["spec"], "volumes": volumes}}
    uid = cluster.make("Pod", "default", body)["metadata"]["uid"]
    await until(lambda: ready(pods(cluster)[0]))
    data = cluster.folder / "claims" / made["metadata"]["uid"]
    data.chmod(0o700)  # as PostgreSQL does with its own
    cluster.store.change(BY_KIND["Secret"], "default", "key", data={"word": base64.b64encode(b"new").decode()})
    await until(lambda: (cluster.folder / "pods" / uid / "key" / "word").read_text() == "new")
    assert data.stat().st_mode & 0o777 == 0o700


async def test_a_cluster_one_of_whose_parts_has_ended_says_so_to_everybody(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup, match="parts of the cluster failed") as raised:
        async with small_cluster(tmp_path / "cluster") as cluster:
            cluster.make("Pod", "default", {**template(), "metadata": {"name": "odd"}})
            del cluster.store._objects[(POD, "default", "odd")]["spec"]["containers"]
            trust = ssl.create_default_context(cafile=str(cluster.folder / "ca.crt"))
            headers = {"Authorization": f"Bearer {cluster.token}"}
            async with httpx.AsyncClient(headers=headers, verify=trust) as admin:
                answer = await admin.get(f"https://127.0.0.1:{cluster.port}/api/v1/namespaces/default/pods")
            assert answer.status_code == 500 and "KeyError('containers')" in answer.json()["message"]
    assert raised.group_contains(KeyError)


async def test_a_pod_acts_as_its_service_account_unless_it_is_not_to(cluster: SmallCluster) -> None:
    show = [sys.executable, "-c", "import os; print(os.environ.get('KUBECONFIG', 'none')); input()"]
    for name, mounts in (("with", True), ("without", False)):
        container = {"name": "main", "image": "registry.example/x:1", "command": show}
        spec = {"restartPolicy": "Never", "automountServiceAccountToken": mounts, "containers": [container]}
        cluster.make("Pod", "default", {"metadata": {"name": name}, "spec": spec})
    said = {}
    for name in ("with", "without"):
        uid = (cluster.find("Pod", "default", name) or {})["metadata"]["uid"]
        await until(lambda uid=uid: b"\n" in cluster.kubelet.logs(uid, "main"))  # type: ignore[misc]
        said[name] = cluster.kubelet.logs(uid, "main").decode().splitlines()[0]
    assert said["without"] == "none" and said["with"].endswith(".kubeconfig")


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("redis://server:6379/0", "redis://{ip}:6379/0"),
        ("postgresql://server:9a@server:5432/server", "postgresql://server:9a@{ip}:5432/server"),
        ("http://server.default.svc:80/x", "http://{ip}:80/x"),
        ("http://server.default.svc.cluster.local:80", "http://{ip}:80"),
        ("http://server.other.svc:80", "http://server.other.svc:80"),
        ("http://server.default.example:80", "http://server.default.example:80"),
        ("http://elsewhere:80", "http://elsewhere:80"),
    ],
)
async def test_names_of_services_become_addresses(cluster: SmallCluster, text: str, becomes: str) -> None:
    ip = service(cluster)
    assert resolved(cluster.store, "default", text) == becomes.format(ip=ip)
