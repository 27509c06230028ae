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
        cluster.make_namespace(NAMESPACE, enforce="restricted")
        _grant(cluster)
        token = cluster.token_for(NAMESPACE, ACCOUNT)
        kubeconfig = cluster.write_kubeconfig(folder / "cluster" / "worker.kubeconfig", token, NAMESPACE)
        yield _environment(kubeconfig, NAMESPACE, IMAGE)


def _grant(cluster: SmallCluster) -> None:
    """What the chart installs: an account that may do what boxes need, and nothing else."""
    made: dict[str, Any] = {"ServiceAccount": {}, "Role": {"rules": rules()}}
    made["RoleBinding"] = {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}],
    }
    for kind, body in made.items():
        cluster.make(kind, NAMESPACE, {"metadata": {"name": ACCOUNT}, **body})


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
