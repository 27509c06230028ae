"""README's page for Helm, followed to the letter: its commands, by bash, with the real kubectl and helm.

The App is one of a local GitHub, so the commands get its id and two more values; the cluster is our own, whose kubelet
starts the programs of the images on this machine: web, worker, migration, PostgreSQL, Valkey, the boxes.
"""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import yaml

from github.emulator import LocalGitHub
from tests.charts.admin import ROOT, Admin, administrator, commands
from tests.charts.render import CHART
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.workflows import workflow

pytestmark = pytest.mark.timeout(600)

REPOSITORY = "acme/widgets"
AGENT = """
import pathlib
value = pathlib.Path("value.txt")
value.write_text("nearly" if value.read_text() == "wrong" else "right")
"""


@pytest.fixture
async def local() -> AsyncIterator[LocalGitHub]:
    async with LocalGitHub() as local:
        yield local


@pytest.fixture
async def admin(request: pytest.FixtureRequest, local: LocalGitHub) -> AsyncIterator[Admin]:
    async with administrator(local, request.param) as made:
        yield made


@pytest.mark.parametrize("admin", ["helm3"], indirect=True)
async def test_with_helm_3_the_page_brings_up_a_trial_that_takes_a_signed_ping(admin: Admin) -> None:
    said = await admin.run(admin.page())
    assert 'is installed as "greenloop"' in said and "Succeeded" in said


@pytest.mark.parametrize("admin", ["helm"], indirect=True)
async def test_the_page_for_helm_brings_up_a_trial_that_goes_from_a_mention_to_green_and_comes_back(
    admin: Admin,
) -> None:
    said = await admin.run(admin.page())
    assert 'is installed as "greenloop"' in said and "Succeeded" in said
    await admin.until(admin.first_migration_is_done)
    # the pod of a test that succeeded is gone
    assert "takes a signed ping (200) and refuses a forged one (401)" in admin.logs()

    settings = {"RUNTIME": "command", "COMMAND": admin.agents.command(AGENT), "SETTLE_SECONDS": 0}
    (admin.folder / "values.yaml").write_text(yaml.safe_dump({"settings": settings}))
    await admin.run("helm -n greenloop upgrade greenloop charts/greenloop --reuse-values -f values.yaml")
    for name in ("deployment/greenloop-web", "deployment/greenloop-worker", "statefulset/greenloop-postgresql"):
        await admin.run(f"kubectl -n greenloop rollout status {name} --timeout=180s")
    await admin.until(admin.former_workers_are_gone)
    await _a_mention_becomes_green(admin)
    await _the_doctor_finds_nothing_that_fails(admin)

    await admin.run("helm -n greenloop uninstall greenloop")
    for kind, name in (("Deployment", "greenloop-web"), ("StatefulSet", "greenloop-postgresql")):
        assert admin.cluster.find(kind, "greenloop", name) is None
    assert admin.of("PersistentVolumeClaim", "data-greenloop-postgresql-0"), "the trial's data stays"
    [home] = admin.cluster.store.list(BY_KIND["PersistentVolumeClaim"], "greenloop-boxes")
    assert home["metadata"]["name"].startswith("gl-"), "people's homes stay"

    again = admin.page().partition("helm -n greenloop install")
    await admin.run(again[1] + again[2])
    await admin.run("kubectl -n greenloop rollout status deployment/greenloop-worker --timeout=180s")


async def _a_mention_becomes_green(admin: Admin) -> None:
    local, service = admin.local, admin.of("Service", "greenloop-web")["spec"]
    local.set_webhook(f"http://{service['clusterIP']}:8080/webhooks/github")
    files = admin.folder / "files"
    (files / ".github/workflows").mkdir(parents=True)
    (files / ".github/workflows/ci.yml").write_text(workflow('test "$(cat value.txt)" = right'))
    (files / "value.txt").write_text("wrong")
    token = local.add_user("alice").token
    local.add_repository(REPOSITORY, from_dir=files)
    local.set_permission(REPOSITORY, "alice", "write")
    local.install("acme", [REPOSITORY])
    headers = {"Authorization": f"token {token}", "User-Agent": "test"}
    async with httpx.AsyncClient(base_url=f"{local.api_url}/repos/{REPOSITORY}", headers=headers) as http:
        await http.post("/issues", json={"title": "The value is wrong", "body": "@greenloop please mend it"})

        async def green() -> bool:
            found = (await http.get("/pulls?state=open")).json()
            return bool(found) and found[0]["draft"] is False

        try:
            await admin.until(green)
        except AssertionError as error:
            said = (await http.get("/issues/1/comments")).text
            raise AssertionError(f"{said}\n{error}") from None
        [pull] = (await http.get("/pulls?state=open")).json()
        commits = (await http.get(f"/pulls/{pull['number']}/commits")).json()
    assert len(commits) == 2, "one red attempt, one repair"


async def _the_doctor_finds_nothing_that_fails(admin: Admin) -> None:
    """What NOTES has people run in a worker pod, in a pod like it: our server has no exec."""
    spec = admin.of("Deployment", "greenloop-worker")["spec"]["template"]["spec"] | {"restartPolicy": "Never"}
    [container] = spec["containers"]
    spec["containers"] = [{key: value for key, value in container.items() if not key.endswith("Probe")}]
    spec["containers"][0]["command"] = ["greenloop", "doctor", "--json"]
    uid = admin.cluster.make("Pod", "greenloop", {"metadata": {"name": "doctor"}, "spec": spec})["metadata"]["uid"]

    async def ended() -> bool:
        return admin.of("Pod", "doctor")["status"]["phase"] in ("Succeeded", "Failed")

    await admin.until(ended)
    told = json.loads(admin.cluster.kubelet.logs(uid, container["name"]).splitlines()[-1])
    assert [each for each in told["checks"] if each["level"] == "fail"] == []
    levels = {each["check"]: each["level"] for each in told["checks"]}
    assert levels["webhook"] == levels["cluster rights"] == levels["database"] == levels["Redis"] == "ok"
    assert levels["pages"] == "warn", "nobody can sign in yet"


@pytest.mark.parametrize("page", [CHART / "README.md", CHART / "files" / "README.head.md"], ids=lambda page: page.name)
def test_the_charts_own_page_has_the_same_commands(page: Path) -> None:
    def words(text: str) -> list[str]:
        return text.replace("\\\n", " ").split()

    told = " ".join(words(commands(ROOT / "README.md", "Install with Helm")))
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", page.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        assert " ".join(words(block)) in told
