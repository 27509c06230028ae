import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from typer.testing import CliRunner

from app.commands.cli import main
from app.commands.doctor.agent_checks import check_agents
from app.commands.doctor.checkup import examine
from app.commands.doctor.finding import Finding
from app.process.wiring import open_boxes
from app.settings import Settings
from github.emulator import LocalGitHub
from github.webhooks.outcomes import Actor
from k8s import home_claim
from k8s.boxes import BoxSpec, BoxState
from k8s.options import PodOptions
from k8s.rights import rules
from loops.accounts.accounts import NewAccount, add
from loops.accounts.limited import limit
from loops.runtimes.failures import FailureKind
from loops.secrets.vault import Vault
from loops.sessions.known_accounts import remember_installation
from loops.store.database import Database
from loops.store.tables import Profile
from tests.app.commands.plain_server import serving_plain
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.server import small_cluster


@pytest.fixture
async def local(tmp_path: Path) -> AsyncIterator[LocalGitHub]:
    opened = LocalGitHub(tmp_path / "github")
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture
def well(local: LocalGitHub, tmp_path: Path, sqlite_url: str, redis_url: str) -> Settings:
    """Settings with which nothing is wrong, once the App is installed."""
    return Settings(
        data=tmp_path / "data",
        database_url=sqlite_url,
        redis_url=redis_url,
        app_id=local.app.id,
        app_private_key=local.app.private_key,
        webhook_secrets="a secret of more than sixteen bytes",
        encryption_keys=Fernet.generate_key().decode(),
        github_api_url=local.api_url,
        github_web_url=local.web_url,
    )


def found_of(found: list[Finding], check: str) -> Finding:
    return next(each for each in found if each.check == check)


async def test_all_is_well_where_it_is(well: Settings, local: LocalGitHub, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.txt").write_text("a")
    local.add_repository("acme/widgets", from_dir=source)
    local.install("acme", ["acme/widgets"])
    local.set_webhook("http://127.0.0.1:8080/webhooks/github")
    found = await examine(well)
    assert [each for each in found if each.level == "fail"] == []
    assert found_of(found, "installation").says.startswith("acme")
    assert {"encryption keys", "GitHub App", "permissions", "events", "database", "Redis", "git", "disk", "boxes"} <= {
        each.check for each in found
    }


async def test_an_app_with_fewer_permissions_and_events_is_told_which(well: Settings, local: LocalGitHub) -> None:
    local.app.permissions = {"contents": "read", "metadata": "read"}
    local.app.events = ["push"]
    found = await examine(well)
    permissions, events = found_of(found, "permissions"), found_of(found, "events")
    assert (permissions.level, events.level) == ("fail", "fail")
    assert "contents: write" in permissions.says and "metadata" not in permissions.says
    assert "issue_comment" in events.says and "App's settings" in events.mend


async def test_a_key_of_another_app_fails_and_the_rest_is_still_looked_at(well: Settings) -> None:
    found = await examine(well.model_copy(update={"app_id": well.app_id + 1}))
    assert found_of(found, "GitHub App").level == "fail"
    assert found_of(found, "database").level == "ok"


async def test_what_is_missing_is_named_with_the_way_to_mend_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    found = await examine(
        Settings(
            data=file / "data",
            database_url=f"sqlite:///{tmp_path / 'empty.db'}",
            redis_url="redis://127.0.0.1:1",
            webhook_secrets="",
            encryption_keys="no key",
            boxes="kubernetes",
        )
    )
    failed = {each.check: each for each in found if each.level == "fail"}
    assert set(failed) == {"webhook secret", "encryption keys", "GitHub App", "database", "Redis", "disk", "boxes"}
    assert "greenloop migrate" in failed["database"].mend
    assert "GREENLOOP_BOX_IMAGE" in failed["boxes"].says
    assert all(each.mend for each in found if each.level != "ok")
    assert "no key" not in repr(found)


@pytest.mark.parametrize(
    ("given", "level", "words"),
    [
        ({}, "ok", "this machine only"),
        ({"public_url": "https://greenloop.example.com"}, "warn", "closed"),
        ({"public_url": "https://greenloop.example.com", "pages": "open"}, "warn", "every session"),
        ({"client_id": "Iv1"}, "fail", "half configured"),
        (
            {"client_id": "Iv1", "sign_in_secret": "x", "public_url": "https://greenloop.example.com"},
            "ok",
            "https://greenloop.example.com/signin/callback",
        ),
    ],
)
async def test_who_may_see_the_pages_is_said(given: dict[str, str], level: str, words: str, tmp_path: Path) -> None:
    keys = Fernet.generate_key().decode()
    found = await examine(Settings(data=tmp_path, encryption_keys=keys, **given))  # type: ignore[arg-type]
    pages = found_of(found, "pages")
    assert pages.level == level and words in pages.says


@pytest.mark.parametrize("words", [["doctor"], ["doctor", "--json"]])
def test_the_command_prints_a_table_or_json_and_fails_by_its_exit_code(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENLOOP_DATA", str(tmp_path))
    for name in ("REDIS_URL", "APP_ID", "WEBHOOK_SECRETS", "ENCRYPTION_KEYS", "DATABASE_URL"):
        monkeypatch.delenv(f"GREENLOOP_{name}", raising=False)
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 1
    if "--json" in words:
        told = json.loads(ended.stdout)
        assert told["ok"] is False and {"check", "level", "says", "mend"} == set(told["checks"][0])
    else:
        assert "fail  webhook secret" in ended.stdout and "GREENLOOP_WEBHOOK_SECRETS_FILE" in ended.stdout


async def test_an_account_without_a_right_in_the_boxes_namespace_is_told_which(tmp_path: Path) -> None:
    async with small_cluster(tmp_path / "cluster") as cluster:
        cluster.make_namespace("boxes")
        for account, lacking in (("whole", ""), ("less", "secrets")):
            granted = [rule for rule in rules() if lacking not in rule["resources"]]
            cluster.make("Role", "boxes", {"metadata": {"name": account}, "rules": granted})
            subject = {"kind": "ServiceAccount", "name": account, "namespace": "boxes"}
            role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": account}
            cluster.make(
                "RoleBinding", "boxes", {"metadata": {"name": account}, "roleRef": role, "subjects": [subject]}
            )
            token = cluster.token_for("boxes", account)
            settings = Settings(
                data=tmp_path / "data",
                boxes="kubernetes",
                box_namespace="boxes",
                box_image="registry.example/box:1",
                service_url="http://greenloop-boxes:8081",
                kubeconfig=cluster.write_kubeconfig(tmp_path / account, token, "boxes"),
            )
            rights = found_of(await examine(settings), "cluster rights")
            assert rights.level == ("fail" if lacking else "ok")
            assert ("create secrets" in rights.says) is bool(lacking)


async def test_boxes_that_do_not_come_up_and_boxes_that_would_be_refused_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_claim, "USUAL_SECONDS", 0.0)
    async with small_cluster(tmp_path / "cluster", classes={}) as cluster:
        cluster.make_namespace("boxes", enforce="restricted")
        settings = Settings(
            data=tmp_path / "data",
            boxes="kubernetes",
            box_namespace="boxes",
            box_image="registry.example/box:1",
            service_url="http://greenloop-boxes:8081",
            kubeconfig=cluster.kubeconfig,
            box_pod=PodOptions.model_validate({"home": {"size": "1Gi", "storageClass": "slow"}}),
        )
        boxes = await open_boxes(settings)
        made = BoxSpec(name="gl-a", owner_key="", labels={"instance": settings.instance}, token="t", service_url="")
        async with asyncio.timeout(60):
            while (await boxes.ensure(made)).state is not BoxState.UNSCHEDULABLE:
                await asyncio.sleep(0.05)
        await boxes.close()
        found = await examine(settings)
        assert found_of(found, "a box on trial").level == "ok"
        trouble = found_of(found, "box in trouble")
        assert trouble.says.startswith("gl-a: ") and 'storage class "slow"' in trouble.says
        classless = settings.model_copy(update={"box_pod": PodOptions.model_validate({"priorityClass": "none"})})
        trial = found_of(await examine(classless), "a box on trial")
        assert (trial.level, trial.says.partition(":")[0]) == ("fail", 'The cluster has no priority class "none"')
        names = [each["metadata"]["name"] for each in cluster.store.list(BY_KIND["PersistentVolumeClaim"], "boxes")]
        assert names == ["gl-a-home"], "what is tried is not made"


@pytest.fixture
async def receiver() -> AsyncIterator[tuple[str, list[int]]]:
    """A service that answers each webhook with the first number of the list."""
    answers = [202]

    async def answer(request: Request) -> Response:
        return Response(status_code=answers[0])

    async with serving_plain(Starlette(routes=[Route("/webhooks/github", answer, methods=["POST"])])) as url:
        yield url, answers


async def test_webhooks_that_go_elsewhere_or_fail_are_told_with_what_github_saw(
    well: Settings, local: LocalGitHub, receiver: tuple[str, list[int]]
) -> None:
    url, answers = receiver
    here = well.model_copy(update={"public_url": url})
    webhook = found_of(await examine(here), "webhook")
    assert webhook.level == "fail" and f"{url}/webhooks/github" in webhook.says and "nowhere" in webhook.says
    local.set_webhook("https://tunnel.example/x")
    elsewhere = found_of(await examine(here), "webhook URL")
    assert elsewhere.level == "warn" and "https://tunnel.example/x" in elsewhere.says
    local.set_webhook(f"{url}/webhooks/github")
    assert found_of(await examine(here), "webhook").level == "warn", "nothing has been delivered yet"
    local.add_repository("acme/widgets")
    local.install("acme", ["acme/widgets"])
    await local.idle()
    assert found_of(await examine(here), "webhook").level == "ok"
    answers[0] = 401
    local.install("acme", None)
    local.add_repository("bob/other")
    local.install("bob", None)
    await local.idle()
    webhook = found_of(await examine(here), "webhook")
    assert webhook.level == "fail" and "401" in webhook.says and "secret" in webhook.mend


@pytest.mark.parametrize(
    ("runtime", "level", "says"),
    [
        ("", "ok", "acme, everybody: claude on the account 'main', decided by the first agent that the account runs"),
        ("opencode", "ok", "acme, everybody: opencode on the account 'main', decided by GREENLOOP_RUNTIME"),
        ("codex", "fail", 'acme, everybody: Provider "anthropic" cannot run the "codex" runtime.'),
    ],
)
async def test_the_agent_of_each_owner_is_told_with_the_line_that_decided(
    tmp_path: Path, sqlite_url: str, runtime: str, level: str, says: str
) -> None:
    settings = Settings(data=tmp_path, database_url=sqlite_url, runtime=runtime)
    before = found_of(await check_agents(settings), "agent")
    assert before.level == "warn" and "no provider account" in before.says
    database, vault = Database(sqlite_url), Vault([Fernet.generate_key().decode()])
    async with database.write() as tx:
        await remember_installation(tx, 3, Actor(9, "acme"), 1000)
    kept = await add(database, vault, NewAccount("acme", "main", "anthropic", "api_key", "sk-x"), 1000)
    found = await check_agents(settings)
    assert "`--runtime` in the comment or in the request; `runtime` in the repository's" in found[0].says
    agent = found_of(found, "agent")
    assert agent.level == level and agent.says.startswith(says)
    assert not [each for each in found if each.check == "account"]
    async with database.write() as tx:
        limit(await tx.get_one(Profile, kept.id), FailureKind.CREDENTIALS, time.time() + 600)
    assert found_of(await check_agents(settings), "account").says == "the provider of 'main' refused it (credentials)"
    await database.close()
