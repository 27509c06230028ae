"""The whole small cluster: store, kubelet and an HTTPS server that can go away and come back while pods go on."""

import asyncio
import contextlib
import secrets
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvicorn
import yaml

from tests.k8s.cluster_double.api import Api
from tests.k8s.cluster_double.controllers.ephemeral import EphemeralVolumes
from tests.k8s.cluster_double.controllers.garbage import Garbage
from tests.k8s.cluster_double.controllers.jobs import Jobs
from tests.k8s.cluster_double.controllers.workloads import Workloads
from tests.k8s.cluster_double.http.rbac import User
from tests.k8s.cluster_double.http.surface import Surface, make_app
from tests.k8s.cluster_double.http.tls import Certificates, make_certificates
from tests.k8s.cluster_double.kubelet.kubelet import Kubelet, make_kubelet
from tests.k8s.cluster_double.network import Proxy
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.objects.store import Store

Object = dict[str, Any]

START_SECONDS = 30.0


class SmallCluster:
    """One cluster of ours. `kubeconfig` is a file that kubectl, Helm and the Python client take."""

    def __init__(self, folder: Path, store: Store, kubelet: Kubelet, certificates: Certificates, port: int) -> None:
        self.folder = folder
        self.store = store
        self.kubelet = kubelet
        self.api = Api(store, kubelet.machine.network)
        self.port = port
        self.token = secrets.token_urlsafe(24)
        self.surface = Surface(self.api, {self.token: User("admin", ("system:masters",))}, kubelet.logs)
        self.kubeconfig = folder / "kubeconfig"
        self._certificates = certificates
        self._server: uvicorn.Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self.write_kubeconfig(self.kubeconfig, self.token, "default")
        kubelet.machine.credentials = self._credentials

    async def start_api(self) -> None:
        """Listen. Raises OSError when the port is taken."""
        self.surface.closing = asyncio.Event()
        config = uvicorn.Config(
            make_app(self.surface),
            host="127.0.0.1",
            port=self.port,
            ssl_certfile=str(self._certificates.certificate),
            ssl_keyfile=str(self._certificates.key),
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
            timeout_keep_alive=60,
        )
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve())
        async with asyncio.timeout(START_SECONDS):
            while not self._server.started:
                if self._serving.done():
                    await self._serving
                    raise OSError(f"the API server cannot listen on port {self.port}")
                await asyncio.sleep(0.01)

    async def stop_api(self) -> None:
        """An outage: no more answers, open watches are cut. Pods and the store go on."""
        if self._server is None or self._serving is None:
            return
        self.surface.closing.set()
        self._server.should_exit = True
        await self._serving
        self._server = self._serving = None

    def note_end(self, part: "asyncio.Task[None]") -> None:
        """One of the cluster's own parts has ended, which none does by itself."""
        if not part.cancelled():
            self.surface.broken = part.exception()

    def token_for(self, namespace: str, account: str) -> str:
        """A token of a service account, which may do what its roles allow."""
        token = secrets.token_urlsafe(24)
        self.surface.users[token] = User.service_account(namespace, account)
        return token

    def _credentials(self, namespace: str, account: str, path: Path) -> None:
        """The kubeconfig of a service account, for a pod."""
        self.write_kubeconfig(path, self.token_for(namespace, account), namespace)

    def write_kubeconfig(self, path: Path, token: str, namespace: str) -> Path:
        name = "greenloop"
        cluster = {
            "server": f"https://127.0.0.1:{self.port}",
            "certificate-authority": str(self._certificates.authority),
        }
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": name, "user": {"token": token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": namespace}}],
        }
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(config))
        return path

    def make(self, kind: str, namespace: str, body: Object) -> Object:
        """Create an object past the HTTP surface, as an administrator."""
        return self.api.create(BY_KIND[kind], namespace, body, strict=True)

    def find(self, kind: str, namespace: str, name: str) -> Object | None:
        return self.store.find(BY_KIND[kind], namespace, name)

    def make_namespace(self, name: str, **labels: str) -> None:
        """Make a namespace; keyword `enforce="restricted"` sets the Pod Security level."""
        prefixed = {f"pod-security.kubernetes.io/{key}": value for key, value in labels.items()}
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": prefixed}}
        self.make("Namespace", "", body)
        self.api.add_account(name)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        # Signals belong to the process that we are a guest in.
        yield


@contextlib.asynccontextmanager
async def small_cluster(folder: Path | None = None, **kubelet: Any) -> AsyncIterator[SmallCluster]:
    """A running cluster with a namespace `default`. All of its pods end with it; so does its folder if we made it.

    Raises ExceptionGroup in the end where a part of it has failed meanwhile; until then it answers 500.
    """
    home = folder or Path(tempfile.mkdtemp(prefix="greenloop-cluster-"))
    home.mkdir(parents=True, exist_ok=True)
    store = Store()
    running = make_kubelet(store, home, **kubelet)
    cluster = SmallCluster(home, store, running, make_certificates(home), _free_port())
    cluster.make_namespace("default")
    controllers = (
        running,
        Jobs(cluster.api, running.machine.pace),
        Workloads(cluster.api),
        Garbage(cluster.api),
        EphemeralVolumes(cluster.api),
        Proxy(store),
    )
    followers = [asyncio.create_task(each.run()) for each in controllers]
    for follower in followers:
        follower.add_done_callback(cluster.note_end)
    try:
        await cluster.start_api()
        yield cluster
    finally:
        await cluster.stop_api()
        for follower in followers:
            follower.cancel()
        ends = await asyncio.gather(*followers, return_exceptions=True)
        if folder is None:
            shutil.rmtree(home, ignore_errors=True)
    if failed := [end for end in ends if isinstance(end, Exception)]:
        raise ExceptionGroup("parts of the cluster failed", failed)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
