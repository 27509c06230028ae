"""`greenloop doctor --network`: a box tries the service, the Git host, the hosts of models, and what is closed."""

import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from app.commands.doctor import reach_checks
from app.commands.doctor.box_checks import check_boxes, check_network
from app.commands.doctor.checkup import examine
from app.commands.doctor.finding import Finding
from app.settings import Settings
from github.webhooks.outcomes import Actor
from k8s import network_policy_probe
from loops.accounts.accounts import NewAccount, add
from loops.secrets.vault import Vault
from loops.sessions.known_accounts import remember_installation
from loops.store.database import Database
from tests.app.commands.plain_server import serving_plain
from tests.k8s.cluster_double.server import small_cluster

NOBODY = "127.0.0.1:1"
"""A place where nothing listens."""


@pytest.fixture
async def given(
    tmp_path: Path, sqlite_url: str, service: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[dict[str, Any]]:
    """Settings of a service with boxes in a cluster that enforces no policies, all in order but for that."""
    monkeypatch.setattr(reach_checks, "METADATA", ("127.0.0.1:2",))  # this machine may be one of a cloud's
    monkeypatch.setattr(network_policy_probe, "SETTLE_SECONDS", 0)
    async with small_cluster(tmp_path / "cluster") as cluster:
        cluster.make_namespace("boxes", enforce="restricted")
        yield {
            "data": tmp_path / "data",
            "database_url": sqlite_url,
            "boxes": "kubernetes",
            "box_namespace": "boxes",
            "box_image": "registry.example/box:1",
            "kubeconfig": cluster.kubeconfig,
            "service_url": service,
            "redis_url": f"redis://{NOBODY}",
            "github_web_url": service,
            "github_api_url": service,
        }


@pytest.fixture
async def service() -> AsyncIterator[str]:
    """The port of the service that boxes ask."""
    async with serving_plain(Starlette(routes=[Route("/healthz", lambda _: Response("ok"))])) as url:
        yield url


@contextlib.contextmanager
def listening(host: str = "127.0.0.1") -> Iterator[str]:
    """A place that takes connections."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:
        yield f"[{host}]:{server.getsockname()[1]}" if ":" in host else f"{host}:{server.getsockname()[1]}"


async def account(database_url: str, endpoint: str) -> None:
    database, vault = Database(database_url), Vault([Fernet.generate_key().decode()])
    async with database.write() as tx:
        await remember_installation(tx, 1, Actor(9, "acme"), 1000)
    await add(database, vault, NewAccount("acme", "main", "anthropic", "api_key", "sk-x", base_url=endpoint), 1000)
    await database.close()


async def looked(given: dict[str, Any]) -> dict[str, Finding]:
    return {each.check: each for each in await check_network(Settings(**given))}


async def test_the_network_is_tried_where_that_is_asked_for_and_only_there(given: dict[str, Any]) -> None:
    assert "network of boxes" not in {each.check for each in await check_boxes(Settings(**given))}
    found = {each.check: each for each in await examine(Settings(**given), network=True)}
    assert found["network policies"].level == "fail" and found["network of boxes"].level == "ok"


async def test_what_has_to_be_closed_and_is_not_is_named(given: dict[str, Any]) -> None:
    with listening() as redis:
        found = (await looked(given | {"redis_url": f"redis://{redis}"}))["network of boxes"]
    assert (found.level, found.says) == ("fail", f"a box reaches {redis} (IPv4)")


async def test_what_has_to_be_closed_is_tried_by_ipv6_too(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.ExitStack() as stack:
        try:
            opened = stack.enter_context(listening("::1"))
        except OSError as error:
            pytest.skip(f"this machine has no IPv6: {error}")
        monkeypatch.setattr(reach_checks, "METADATA", (opened,))
        found = (await looked(given))["network of boxes"]
    assert (found.level, found.says) == ("fail", f"a box reaches {opened} (IPv6)")


async def test_the_service_is_told_by_where_it_is_and_what_else_answers_there_is_not_it(given: dict[str, Any]) -> None:
    found = (await looked(given | {"service_url": f"http://{NOBODY}"}))["network of boxes"]
    assert found.level == "fail" and f"cannot reach the service at {NOBODY}: Connection refused (IPv4)" in found.says
    with listening() as other:
        found = (await looked(given | {"service_url": f"http://{other}"}))["network of boxes"]
    assert found.level == "fail" and "not the service's gateways: it answers no HTTP" in found.says
    assert (await looked(given))["network of boxes"].says.startswith("a box reaches the service at 127.0.0.1:")


async def test_the_git_host_and_the_hosts_of_models_are_tried_from_a_box(given: dict[str, Any], service: str) -> None:
    git, model = "Git host, from a box", "hosts of models, from a box"
    assert model not in await looked(given), "there is no account yet"
    await account(given["database_url"], f"http://{NOBODY}/v1")
    found = await looked(given)
    assert (found[git].level, found[git].says) == ("ok", f"a box reaches {service.removeprefix('http://')} (IPv4)")
    refused = f"a box reaches none of them, not {NOBODY}: Connection refused (IPv4)"
    assert (found[model].level, found[model].says) == ("warn", refused)
    found = await looked(given | {"box_egress": "allowList"})
    assert (found[model].level, found[model].says) == ("ok", refused), "who allows nothing wants nothing reached"


async def test_where_boxes_have_gateways_alone_git_and_models_have_to_be_closed(given: dict[str, Any]) -> None:
    with listening() as git, listening() as model:
        await account(given["database_url"], f"http://{model}/v1")
        closed = {"box_egress": "gateway", "github_web_url": f"http://{git}", "github_api_url": f"http://{NOBODY}"}
        found = await looked(given | closed)
    assert found["network of boxes"].says == f"a box reaches {git} (IPv4), {model} (IPv4)"
    assert "Git host, from a box" not in found


async def test_the_service_itself_has_to_be_answered_by_git_and_models(given: dict[str, Any], service: str) -> None:
    await account(given["database_url"], f"http://{NOBODY}/v1")
    found = await looked(given)
    assert found["Git host"].says == f"the service is answered by {service.removeprefix('http://')}"
    assert found["hosts of models"].level == "fail" and NOBODY in found["hosts of models"].says
    local = await looked(given | {"boxes": "local"})
    assert local["hosts of models"].level == "fail" and local["network of boxes"].level == "warn"


async def test_a_name_that_nobody_knows_is_told_as_such(given: dict[str, Any]) -> None:
    found = await looked(given | {"service_url": "http://nowhere.invalid:80"})
    assert "cannot reach the service at nowhere.invalid:80: its name is not found" in found["network of boxes"].says


async def test_a_box_on_trial_that_cannot_run_is_told(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach_checks, "PROBE_SECONDS", 2)
    found = (await looked(given | {"box_pod": {"nodeSelector": {"no": "node"}}}))["network of boxes"]
    assert found.level == "fail" and "a box for trying could not run" in found.says
