"""Where the demo's boxes are: on this machine, or on a Kubernetes cluster."""

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
from k8s.local import LocalBoxes

POD = {"home": {"size": "1Gi"}, "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}

LOOPBACK = "127.0.0.1"
SOMEWHERE = ("192.0.2.1", 9)  # an address of nobody's: https://www.rfc-editor.org/rfc/rfc5737

Environment = dict[str, str]


def refuse_unusable(boxes: str, kubeconfig: Path | None, image: str | None) -> None:
    """Raises Misuse for options that name no place for boxes, or two."""
    if boxes == "kubernetes" and (kubeconfig is None or not image):
        raise Misuse("--boxes kubernetes needs a cluster and an image it can pull: --kubeconfig FILE --box-image IMAGE")
    if boxes != "kubernetes" and (kubeconfig or image):
        raise Misuse("--kubeconfig and --box-image are for --boxes kubernetes")


def place(kubeconfig: Path | None, image: str, folder: Path) -> contextlib.AbstractAsyncContextManager[Environment]:
    """The environment that makes the service use boxes there, which all end with the block. Raises Misuse."""
    return _local(folder) if kubeconfig is None else _on_cluster(kubeconfig, image)


def own_address(kubeconfig: Path | None) -> str:
    """The address of this machine that the cluster's pods can most likely reach; without a cluster, loopback.

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
async def _on_cluster(kubeconfig: Path, image: str) -> AsyncIterator[Environment]:
    from aiohttp import ClientError
    from kubernetes.aio import client, config

    configuration: Any = client.Configuration()
    load: Any = config.load_kube_config
    try:
        await load(config_file=str(kubeconfig), client_configuration=configuration)
    except config.ConfigException as error:
        raise Misuse(f"--kubeconfig {kubeconfig}: {error}") from None
    namespace = f"greenloop-demo-{uuid.uuid4().hex[:8]}"
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    async with client.ApiClient(configuration) as api:
        core: Any = client.CoreV1Api(api)
        try:
            await core.create_namespace({"metadata": {"name": namespace, "labels": labels}}, _request_timeout=30)
        except (client.ApiException, ClientError, TimeoutError) as error:
            why = error.reason if isinstance(error, client.ApiException) else error
            raise Misuse(f"--kubeconfig {kubeconfig}: the cluster makes no namespace for the boxes: {why}") from None
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
