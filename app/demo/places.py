"""Where the demo's boxes are: on this machine, on a small cluster of ours, or on a real one."""

import contextlib
import json
import socket
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from app.demo.world import Misuse
from k8s.apiserver.server import SmallCluster, small_cluster
from k8s.local import LocalBoxes
from k8s.rights import rules

NAMESPACE = "greenloop-demo-boxes"
ACCOUNT = "greenloop-worker"
# Any valid name will do: the small cluster has no registry, and runs what the image would hold.
IMAGE = "greenloop.example/box:demo"
POD = {"home": {"size": "1Gi"}, "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}

LOOPBACK = "127.0.0.1"
SOMEWHERE = ("192.0.2.1", 9)  # an address of nobody's: https://www.rfc-editor.org/rfc/rfc5737

Environment = dict[str, str]


def place(
    boxes: str, folder: Path, kubeconfig: Path | None, image: str | None
) -> contextlib.AbstractAsyncContextManager[Environment]:
    """The environment that makes the service use these boxes, which all end with the block. Raises Misuse."""
    if boxes == "local":
        return _local(folder)
    if kubeconfig is None:
        return _small(folder)
    if not image:
        raise Misuse("--kubeconfig needs --box-image: the image of the boxes, which the cluster can pull")
    return _real(kubeconfig, image)


def own_address(kubeconfig: Path | None) -> str:
    """The address of this machine that the cluster's pods can most likely reach; our own pods are on this machine.

    It is the one that leads to the API server; where that is on this machine, behind a port of a container, the one
    that leads to everybody else. Raises Misuse for a file that is no kubeconfig.
    """
    if kubeconfig is None:
        return LOOPBACK
    try:
        config = yaml.safe_load(kubeconfig.read_text())
        server = urlsplit(str(config["clusters"][0]["cluster"]["server"]))
    except (OSError, yaml.YAMLError, LookupError, TypeError) as error:
        raise Misuse(f"--kubeconfig {kubeconfig}: no cluster can be read from it ({error})") from None
    found = _source_towards(server.hostname or "", server.port or 443)
    return found if not found.startswith("127.") else _source_towards(*SOMEWHERE)


def _source_towards(host: str, port: int) -> str:
    # Connecting a datagram socket sends nothing: it only asks the system for the way.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect((host, port))
        except OSError:
            return LOOPBACK
        return str(asking.getsockname()[0])


@contextlib.asynccontextmanager
async def _local(folder: Path) -> AsyncIterator[Environment]:
    boxes = LocalBoxes(folder / "data" / "boxes")
    try:
        yield {"GREENLOOP_BOXES": "local"}
    finally:
        for status in await boxes.list():
            await boxes.stop(status.name)
        await boxes.close()


@contextlib.asynccontextmanager
async def _small(folder: Path) -> AsyncIterator[Environment]:
    async with small_cluster(folder / "cluster") as cluster:
        cluster.make_namespace(NAMESPACE, enforce="restricted")
        yield _environment(grant(cluster, NAMESPACE), NAMESPACE, IMAGE)


def grant(cluster: SmallCluster, namespace: str) -> Path:
    """What the chart installs: an account that may do in the namespace what boxes need. Its kubeconfig."""
    made: dict[str, Any] = {"ServiceAccount": {}, "Role": {"rules": rules()}}
    made["RoleBinding"] = {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}],
    }
    for kind, body in made.items():
        cluster.make(kind, namespace, {"metadata": {"name": ACCOUNT}, **body})
    token = cluster.token_for(namespace, ACCOUNT)
    return cluster.write_kubeconfig(cluster.folder / "worker.kubeconfig", token, namespace)


@contextlib.asynccontextmanager
async def _real(kubeconfig: Path, image: str) -> AsyncIterator[Environment]:
    from kubernetes.aio import client, config

    configuration: Any = client.Configuration()
    load: Any = config.load_kube_config
    await load(config_file=str(kubeconfig), client_configuration=configuration)
    namespace = f"greenloop-demo-{uuid.uuid4().hex[:8]}"
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    async with client.ApiClient(configuration) as api:
        core: Any = client.CoreV1Api(api)
        await core.create_namespace({"metadata": {"name": namespace, "labels": labels}})
        try:
            yield _environment(kubeconfig.resolve(), namespace, image)
        finally:
            await core.delete_namespace(namespace)


def _environment(kubeconfig: Path, namespace: str, image: str) -> Environment:
    return {
        "GREENLOOP_BOXES": "kubernetes",
        "GREENLOOP_KUBECONFIG": str(kubeconfig),
        "GREENLOOP_BOX_NAMESPACE": namespace,
        "GREENLOOP_BOX_IMAGE": image,
        "GREENLOOP_BOX_POD": json.dumps(POD),
    }
