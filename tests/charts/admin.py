"""A cluster administrator at a shell: the real kubectl and helm, on our own cluster, whose kubelet starts the programs
of the images on this machine."""

import asyncio
import contextlib
import functools
import re
import shutil
import tempfile
import textwrap
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from github.emulator import LocalGitHub
from tests.charts.images import programs
from tests.charts.render import CHART
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.server import SmallCluster, small_cluster
from tests.tools import need

Object = dict[str, Any]
ROOT = CHART.parent.parent


def commands(page: Path, title: str) -> str:
    """The first block of shell commands under the heading `title`."""
    part = page.read_text().split(f"\n## {title}\n", 1)[1]
    found = re.search(r"^ *```sh\n(.*?)^ *```", part, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


class Admin:
    """A cluster administrator at a shell, in a folder with the App's key and the chart."""

    def __init__(self, cluster: SmallCluster, local: LocalGitHub, folder: Path, program: str) -> None:
        self.cluster = cluster
        self.local = local
        self.folder = folder
        tools = folder / "bin"
        tools.mkdir(parents=True)
        for name, tool in (("helm", program), ("kubectl", "kubectl")):
            (tools / name).symlink_to(need(tool))
        (folder / "charts").symlink_to(ROOT / "charts")
        self.agents = Agents(folder / "agents")
        (folder / "app.private-key.pem").write_text(local.app.private_key)
        self._env = {
            "PATH": f"{tools}:/usr/bin:/bin",
            "HOME": str(folder),
            "KUBECONFIG": str(cluster.kubeconfig),
            "WEBHOOK_SECRET": local.app.hook.secret,
        }

    async def run(self, script: str) -> str:
        """What the commands print. Raises AssertionError with it when one fails."""
        process = await asyncio.create_subprocess_exec(
            "bash", "-euo", "pipefail", "-c", script,
            cwd=self.folder, env=self._env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        said, _ = await process.communicate()
        assert process.returncode == 0, said.decode() + self.logs()
        return said.decode()

    def page(self) -> str:
        """The commands of README, for the local GitHub's App."""
        text = commands(ROOT / "README.md", "Install with Helm")
        assert "--set github.appId=123456 " in text
        where = f"--set github.apiUrl={self.local.api_url} --set github.webUrl={self.local.web_url}"
        return text.replace("github.appId=123456", f"github.appId={self.local.app.id} {where}")

    async def until(self, what: Callable[[], Awaitable[bool]], seconds: float = 180) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not await what():
                    await asyncio.sleep(0.2)
        except TimeoutError:
            raise AssertionError(f"not within {seconds} s: {what.__name__}{self.logs()}") from None

    async def former_workers_are_gone(self) -> bool:
        """Whether only those of the newest settings are left: a rollout does not wait for the end of the others."""
        pods = self.cluster.store.list(BY_KIND["Pod"], "greenloop")
        about = [pod["metadata"] for pod in pods]
        return not any("-worker-" in each["name"] and "deletionTimestamp" in each for each in about)

    async def first_migration_is_done(self) -> bool:
        """Whether its job is counted: the tables are there a moment before its program ends."""
        return bool(self.of("Job", "greenloop-migrate-first")["status"].get("succeeded") == 1)

    def logs(self) -> str:
        """The last words of every container."""
        folder = self.cluster.folder / "logs"
        return "".join(f"\n--- {file.name}\n{file.read_text()[-2000:]}" for file in sorted(folder.glob("*.log")))

    def of(self, kind: str, name: str, namespace: str = "greenloop") -> Object:
        found = self.cluster.find(kind, namespace, name)
        assert found is not None, f"{kind} {name} is not there"
        return found


class Agents:
    """What agents run and ask for, by HTTP, as they see no folder of this machine. `asked` are the paths so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.asked: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Files, self))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def command(self, script: str) -> str:
        """The command line of an agent that runs `script`, in which `{url}` is where it asks."""
        url = f"http://127.0.0.1:{self._server.server_port}"
        (self.folder / "agent.py").write_text(textwrap.dedent(script).replace("{url}", url))
        return f"python3 -c \"import urllib.request as web; exec(web.urlopen('{url}/agent.py').read())\""

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Files(SimpleHTTPRequestHandler):
    def __init__(self, agents: Agents, *about: Any) -> None:
        self._agents = agents
        super().__init__(*about, directory=str(agents.folder))

    def do_GET(self) -> None:
        self._agents.asked.append(self.path)
        super().do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextlib.asynccontextmanager
async def administrator(local: LocalGitHub, program: str) -> AsyncIterator[Admin]:
    """One with that helm, and a cluster without anything of ours."""
    folder = Path(tempfile.mkdtemp(prefix="greenloop-admin-"))
    folder.chmod(0o711)  # PostgreSQL runs as another user
    try:
        async with small_cluster(folder / "cluster", programs=programs(), pace=0.1, restart_seconds=0.2) as cluster:
            admin = Admin(cluster, local, folder / "admin", program)
            try:
                yield admin
            finally:
                await asyncio.to_thread(admin.agents.close)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
