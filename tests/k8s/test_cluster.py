"""The client of the API: credentials that expire, certificates of old clusters, connections that fall silent."""

import json
import ssl
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from k8s import cluster as module
from k8s.boxes import BoxesUnavailable
from k8s.cluster import Cluster, ClusterError, ClusterUnreachable
from k8s.kubernetes_boxes import KubernetesBoxes
from k8s.options import PodOptions
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.server import SmallCluster, small_cluster
from tests.k8s.objects import spec


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[SmallCluster]:
    async with small_cluster(tmp_path / "cluster") as made:
        yield made


class Login:
    """A kubeconfig whose token comes from a program, as with the large clouds; `asked` counts its runs."""

    def __init__(self, small: SmallCluster, folder: Path) -> None:
        self._small = small
        self._answer = folder / "answer.json"
        self._log = folder / "log"
        self._log.write_text("")
        config = yaml.safe_load(small.kubeconfig.read_text())
        script = f"print(open({str(self._answer)!r}).read()); open({str(self._log)!r}, 'a').write('x')"
        arguments = {"command": sys.executable, "args": ["-c", script], "interactiveMode": "Never"}
        config["users"][0]["user"] = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", **arguments}}
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text(yaml.safe_dump(config))
        self.give(small.token)

    @property
    def asked(self) -> int:
        return len(self._log.read_text())

    def give(self, token: str) -> None:
        about = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
        self._answer.write_text(json.dumps({**about, "status": {"token": token}}))

    def expire(self, token: str) -> None:
        del self._small.surface.users[token]


@pytest.fixture
def login(small: SmallCluster, tmp_path: Path) -> Login:
    return Login(small, tmp_path)


def another(small: SmallCluster, token: str) -> str:
    """A second token of the same user."""
    small.surface.users[token] = small.surface.users[small.token]
    return token


async def test_a_token_of_a_program_that_has_expired_is_renewed(small: SmallCluster, login: Login) -> None:
    connected = await Cluster.connect("default", kubeconfig=login.kubeconfig)
    assert await connected.get("Pod", "none") is None
    login.give(another(small, "second"))
    login.expire(small.token)
    assert await connected.get("Pod", "none") is None
    assert login.asked == 2
    await connected.close()


async def test_a_token_that_was_rotated_is_read_again_from_its_file(small: SmallCluster, tmp_path: Path) -> None:
    file, kubeconfig = tmp_path / "token", tmp_path / "kubeconfig"
    file.write_text(small.token)
    config = yaml.safe_load(small.kubeconfig.read_text())
    config["users"][0]["user"] = {"tokenFile": str(file)}
    kubeconfig.write_text(yaml.safe_dump(config))
    connected = await Cluster.connect("default", kubeconfig=kubeconfig)
    assert await connected.get("Pod", "none") is None
    file.write_text(another(small, "second"))
    del small.surface.users[small.token]
    assert await connected.get("Pod", "none") is None
    await connected.close()


async def test_a_namespace_that_is_being_deleted_is_told_as_such_and_says_nothing_about_a_box(
    small: SmallCluster,
) -> None:
    small.make_namespace("boxes")
    small.make("ConfigMap", "boxes", {"metadata": {"name": "held", "finalizers": ["example.com/held"]}})
    small.api.delete(BY_KIND["Namespace"], "", "boxes", {})
    boxes = KubernetesBoxes(
        await Cluster.connect("boxes", kubeconfig=small.kubeconfig),
        "greenloop",
        PodOptions(image="registry.example/b:1"),
    )
    with pytest.raises(BoxesUnavailable) as raised:
        await boxes.ensure(spec())
    assert raised.value.told == "The namespace of the boxes is being deleted."
    await boxes.close()


async def test_a_program_without_a_better_token_is_not_asked_with_every_request(
    small: SmallCluster, login: Login
) -> None:
    connected = await Cluster.connect("default", kubeconfig=login.kubeconfig)
    login.expire(small.token)
    for _ in range(3):
        with pytest.raises(ClusterError) as refused:
            await connected.get("Pod", "none")
        assert refused.value.status == 401
    assert login.asked == 2
    await connected.close()


async def test_a_program_that_fails_says_nothing_about_boxes(small: SmallCluster, login: Login) -> None:
    connected = await Cluster.connect("default", kubeconfig=login.kubeconfig)
    login.expire(small.token)
    login.kubeconfig.write_text("no kubeconfig")
    with pytest.raises(ClusterUnreachable, match="credentials cannot be renewed"):
        await connected.get("Pod", "none")
    await connected.close()


async def test_certificates_without_what_newer_pythons_ask_for_are_taken(
    small: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ssl.SSLContext] = []
    create = ssl.create_default_context

    def as_in_python_3_13(*arguments: Any, **options: Any) -> ssl.SSLContext:
        made.append(create(*arguments, **options))
        made[-1].verify_flags |= ssl.VERIFY_X509_STRICT
        return made[-1]

    monkeypatch.setattr(ssl, "create_default_context", as_in_python_3_13)
    connected = await Cluster.connect("default", kubeconfig=small.kubeconfig)
    assert await connected.get("Pod", "none") is None
    assert made[-1].verify_mode is ssl.CERT_REQUIRED
    assert not made[-1].verify_flags & ssl.VERIFY_X509_STRICT
    await connected.close()


async def test_a_watch_that_hears_not_even_bookmarks_counts_as_cut_off(
    small: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WATCH_SILENCE_SECONDS", 0.2)
    connected = await Cluster.connect("default", kubeconfig=small.kubeconfig)
    _, version = await connected.list("Pod", "a=b")
    with pytest.raises(ClusterUnreachable):
        async for _ in connected.watch("Pod", "a=b", version, 60):
            pass
    small.surface.bookmark_seconds = 0.05
    told = [change async for change, _ in connected.watch("Pod", "a=b", version, 1)]
    assert len(told) > 3
    await connected.close()


async def test_a_kubeconfig_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"no way to a cluster by {tmp_path}/none: "):
        await Cluster.connect("boxes", kubeconfig=tmp_path / "none")
    (tmp_path / "empty").write_text("kind: Config")
    with pytest.raises(ValueError, match=f"no way to a cluster by {tmp_path}/empty: "):
        await Cluster.connect("boxes", kubeconfig=tmp_path / "empty")
