"""A place to make boxes in: a fresh namespace on our own API server, or on the cluster of GREENLOOP_TEST_KUBECONFIG.

The tests are the same for both. What a test makes lives in its namespace, and goes with it.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from k8s.boxes import BoxSpec, BoxState, BoxStatus
from k8s.cluster import Cluster
from k8s.kubernetes_boxes import KubernetesBoxes
from k8s.options import PodOptions
from k8s.rights import rules
from tests.k8s.cluster_double.server import SmallCluster, small_cluster
from tests.k8s.namespaces import fresh
from tests.k8s.objects import spec

SLEEP = ["tini", "--", "sh", "-c", "exec sleep 600"]
KUBECONFIG = os.environ.get("GREENLOOP_TEST_KUBECONFIG", "")
ACCOUNT = "greenloop-worker"
IMAGE = os.environ.get("GREENLOOP_TEST_IMAGE", "registry.example/greenloop-box:1")


@dataclass
class Place:
    """A namespace of a cluster. `small` is our own cluster, None on a real one."""

    kubeconfig: Path
    namespace: str
    small: SmallCluster | None
    patience: float
    stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    def options(self, **values: Any) -> PodOptions:
        resources = {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "256Mi"}}
        home = {"size": "1Gi"}
        given = {
            "image": IMAGE,
            "command": SLEEP,
            "agentCommand": SLEEP,
            "resources": resources,
            "runnerResources": resources,
            "home": home,
            "graceSeconds": 2,
            **values,
        }
        return PodOptions.model_validate(given)

    async def boxes(self, instance: str = "greenloop", **values: Any) -> KubernetesBoxes:
        cluster = await self.client()
        made = KubernetesBoxes(cluster, instance, self.options(**values), backoff=(0.05, 0.5))
        self.stack.push_async_callback(made.close)
        return made

    async def client(self) -> Cluster:
        return await Cluster.connect(self.namespace, kubeconfig=self.kubeconfig)

    async def quota(self, **hard: str) -> None:
        """Limit the namespace, and wait until the limit counts."""
        body = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "boxes"}, "spec": {"hard": hard}}
        if self.small is not None:
            self.small.make("ResourceQuota", self.namespace, body)
            return
        async with _core(self.kubeconfig) as core, asyncio.timeout(self.patience):
            await core.create_namespaced_resource_quota(self.namespace, body)
            while (await core.read_namespaced_resource_quota("boxes", self.namespace)).status.hard != hard:
                await asyncio.sleep(0.1)

    def core(self) -> "contextlib.AbstractAsyncContextManager[Any]":
        """The API by Kubernetes' own client."""
        return _core(self.kubeconfig)

    def spec(self, name: str = "gl-greenloop-7-42", **labels: str) -> BoxSpec:
        return spec(name, **labels)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with open_place(tmp_path / "cluster") as opened:
        yield opened


async def settled(boxes: KubernetesBoxes, name: str, seconds: float) -> BoxStatus:
    """The box once it runs or cannot come to; as it is after `seconds` otherwise."""
    deadline = time.monotonic() + seconds
    while True:
        status = await boxes.status(name)
        waits = status.state is BoxState.ABSENT or (status.may_come and status.state is not BoxState.RUNNING)
        if not waits or time.monotonic() > deadline:
            return status
        await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def open_place(folder: Path) -> AsyncIterator[Place]:
    """A namespace that goes with the block, on our own cluster in `folder` or on the real one."""
    async with contextlib.AsyncExitStack() as stack:
        namespace = fresh()
        if KUBECONFIG:
            made = Place(Path(KUBECONFIG).expanduser(), namespace, None, 120.0)
            await stack.enter_async_context(_namespace(made))
        else:
            small = await stack.enter_async_context(small_cluster(folder))
            small.make_namespace(namespace, enforce="restricted")
            made = Place(small.kubeconfig, namespace, small, 60.0)
        async with made.stack:
            yield made


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
async def _namespace(place: Place) -> AsyncIterator[None]:
    from kubernetes.aio.client import ApiException

    async with _core(place.kubeconfig) as core:
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        await core.create_namespace({"metadata": {"name": place.namespace, "labels": labels}})
        try:
            await account_there(core, place.namespace)
            yield
        finally:
            try:
                await core.delete_namespace(place.namespace)
            except ApiException as error:
                if error.status not in (404, 409):  # gone, or going: a test deleted it
                    raise


async def account_there(core: Any, namespace: str) -> None:
    """Wait for the account that pods have by default: it comes a moment after the namespace, and before it no pod."""
    from kubernetes.aio.client import ApiException

    async with asyncio.timeout(30):
        while True:
            with contextlib.suppress(ApiException):
                await core.read_namespaced_service_account("default", namespace)
                return
            await asyncio.sleep(0.1)


@contextlib.asynccontextmanager
async def _core(kubeconfig: Path) -> AsyncIterator[Any]:
    from kubernetes.aio import client, config

    configuration: Any = client.Configuration()
    loader: Any = config.load_kube_config
    await loader(config_file=str(kubeconfig), client_configuration=configuration)
    async with client.ApiClient(configuration) as api:
        core: Any = client.CoreV1Api(api)
        yield core
