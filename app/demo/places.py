"""Where the demo's boxes are: on this machine, on a small cluster of ours, or on a real one."""

import contextlib
import json
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from app.demo.world import Misuse
from k8s.apiserver.server import SmallCluster, small_cluster
from k8s.local import LocalBoxes
from k8s.rights import rules

NAMESPACE = "greenloop-demo-boxes"
ACCOUNT = "greenloop-worker"
# Any valid name will do: the small cluster has no registry, and runs what the image would hold.
IMAGE = "greenloop.example/box:demo"
POD = {"home": {"size": "1Gi"}, "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}

Environment = dict[str, str]


def place(
    boxes: str, folder: Path, kubeconfig: Path | None, image: str | None, host: str
) -> contextlib.AbstractAsyncContextManager[Environment]:
    """The environment that makes the service use these boxes, which all end with the block. Raises Misuse."""
    if boxes == "local":
        return _local(folder)
    if boxes != "kubernetes":
        raise Misuse(f"--boxes {boxes}: must be local or kubernetes")
    if kubeconfig is None:
        return _small(folder)
    if not image:
        raise Misuse("--kubeconfig needs --box-image: the image of the boxes, which the cluster can pull")
    if host.startswith("127."):
        raise Misuse("--kubeconfig needs --host: an address of this machine that the cluster's pods can reach")
    return _real(kubeconfig, image)


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
        yield _environment(prepare(cluster, NAMESPACE), NAMESPACE, IMAGE)


def prepare(cluster: SmallCluster, namespace: str) -> Path:
    """What the chart installs: the namespace, and an account that may do there what boxes need. Its kubeconfig."""
    cluster.make_namespace(namespace, enforce="restricted")
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
