"""A release that is upgraded, and rolled back, while agents work: no turn is lost, and none runs twice."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import yaml

from github.emulator import LocalGitHub
from tests.charts.admin import Admin, administrator
from tests.charts.previous import previous_chart
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.workflows import workflow

pytestmark = pytest.mark.timeout(900)

REPOSITORY = "acme/widgets"
# Notes each start, and works until the test lets it go.
AGENT = """
import pathlib, time, urllib.error, urllib.request
urllib.request.urlopen("{url}/begun").close()
while True:
    print("at work", flush=True)
    try:
        urllib.request.urlopen("{url}/go").close()
        break
    except urllib.error.HTTPError:
        time.sleep(0.2)
pathlib.Path("value.txt").write_text("right")
"""


@pytest.fixture
async def admin() -> AsyncIterator[Admin]:
    async with LocalGitHub() as local, administrator(local, "helm") as made:
        yield made


class Release:
    """A release at work for one repository, whose agents wait for us."""

    def __init__(self, admin: Admin, database: str) -> None:
        self.admin = admin
        self.go = admin.agents.folder / "go"
        (admin.agents.folder / "begun").touch()
        github = {"appId": admin.local.app.id, "apiUrl": admin.local.api_url, "webUrl": admin.local.web_url}
        command = admin.agents.command(AGENT)
        self.values = {
            "github": github,
            "publicUrl": "https://greenloop.example.com",
            "web": {"replicas": 1},
            "settings": {"RUNTIME": "command", "COMMAND": command, "SETTLE_SECONDS": 0},
            "postgresql": {"enabled": database == "postgresql"},
        }

    async def helm(self, command: str, **settings: object) -> None:
        """Run the command for this release with its values, and wait until nothing of the former one is up."""
        values = {**self.values, "settings": {**self.values["settings"], **settings}}  # type: ignore[dict-item]
        (self.admin.folder / "values.yaml").write_text(yaml.safe_dump(values))
        await self.admin.run(f"helm -n greenloop {command} --timeout 180s")
        for name in ("web", "worker"):
            await self.admin.run(f"kubectl -n greenloop rollout status deployment/greenloop-{name} --timeout=300s")
        await self.admin.until(self.admin.former_workers_are_gone)

    async def begin(self, number: int) -> str:
        """Ask for work on an issue, and wait until its agent, the `number`th, is at it: the box's uid."""
        async with self.alice() as http:
            await http.post("/issues", json={"title": "The value is wrong", "body": "@greenloop please mend it"})

        async def at_work() -> bool:
            return self.starts() >= number

        await self.admin.until(at_work)
        [box] = self.admin.cluster.store.list(BY_KIND["Pod"], "greenloop-boxes")
        return str(box["metadata"]["uid"])

    async def end(self, count: int) -> list[int]:
        """Let the agent go, and wait for `count` pull requests that are ready: how many commits each has."""
        self.go.touch()
        async with self.alice() as http:

            async def ready() -> bool:
                pulls = (await http.get("/pulls?state=open")).json()
                return [pull["draft"] for pull in pulls] == [False] * count

            await self.admin.until(ready)
            self.go.unlink()
            pulls = (await http.get("/pulls?state=open")).json()
            return [len((await http.get(f"/pulls/{pull['number']}/commits")).json()) for pull in pulls]

    def alice(self) -> httpx.AsyncClient:
        local = self.admin.local
        headers = {"Authorization": f"token {local.user('alice').token}", "User-Agent": "test"}
        return httpx.AsyncClient(base_url=f"{local.api_url}/repos/{REPOSITORY}", headers=headers)

    def starts(self) -> int:
        """How many agents have begun."""
        return self.admin.agents.asked.count("/begun")


@pytest.mark.parametrize("database", ["postgresql", "sqlite"])
async def test_a_turn_under_way_survives_the_upgrade_of_its_release_and_its_rollback(
    admin: Admin, tmp_path: Path, database: str
) -> None:
    previous = previous_chart(tmp_path / "previous")
    release = Release(admin, database)
    await admin.run(
        "kubectl create namespace greenloop; kubectl -n greenloop create secret generic greenloop"
        " --from-file=private-key=app.private-key.pem --from-literal=webhook-secrets=$WEBHOOK_SECRET"
        ' --from-literal=encryption-keys="$(head -c 32 /dev/urandom | base64 | tr "+/" "-_")"'
        f" --from-literal=database-url=sqlite:///{admin.folder}/greenloop.db"
    )
    await release.helm(f"install greenloop {previous} -f values.yaml")
    _repository(admin)

    box = await release.begin(1)
    await release.helm("upgrade greenloop charts/greenloop -f values.yaml", CAP=5)
    [still] = admin.cluster.store.list(BY_KIND["Pod"], "greenloop-boxes")
    assert still["metadata"]["uid"] == box, "the box of the old release finishes its turn"
    assert await release.end(1) == [1]

    await release.begin(2)
    await release.helm("rollback greenloop 1")
    assert await release.end(2) == [1, 1]
    assert release.starts() == 2, "no turn ran twice"


def _repository(admin: Admin) -> None:
    local, service = admin.local, admin.of("Service", "greenloop-web")["spec"]
    local.set_webhook(f"http://{service['clusterIP']}:8080/webhooks/github")
    files = admin.folder / "files"
    (files / ".github/workflows").mkdir(parents=True)
    (files / ".github/workflows/ci.yml").write_text(workflow('test "$(cat value.txt)" = right'))
    (files / "value.txt").write_text("wrong")
    local.add_user("alice")
    local.add_repository(REPOSITORY, from_dir=files)
    local.set_permission(REPOSITORY, "alice", "write")
    local.install("acme", [REPOSITORY])
