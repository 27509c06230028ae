"""A real kube-apiserver with its etcd, where they are found: in KUBEBUILDER_ASSETS (envtest's convention) or on PATH.

With kube-controller-manager beside them its controllers run too. There are no nodes: pods stay pending.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.k8s.apiserver.clients import Client, connect
from tests.k8s.cluster_double.http.tls import make_certificates

SECONDS = 90.0


def program(name: str) -> str | None:
    """Where the program is, if it is anywhere."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    return shutil.which(name, path=assets) if assets else shutil.which(name)


def need_original() -> None:
    """Skip by name where the original is not here; fail in CI where it has to be (KUBE_APISERVER=required)."""
    missing = [name for name in ("etcd", "kube-apiserver") if program(name) is None]
    if missing:
        message = f"this test needs {' and '.join(missing)} on PATH or in KUBEBUILDER_ASSETS (.ci/apiserver)"
        if os.environ.get("KUBE_APISERVER") == "required":
            pytest.fail(message)
        pytest.skip(message)


@contextlib.asynccontextmanager
async def original(folder: Path) -> AsyncIterator[Client]:
    """A client of a fresh server, as an administrator. Everything ends with the block."""
    folder.mkdir(parents=True, exist_ok=True)
    certificates, token = make_certificates(folder), secrets.token_urlsafe(24)
    signing = folder / "signing.key"
    signing.write_bytes(
        rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    tokens = folder / "tokens.csv"
    tokens.write_text(f'{token},admin,admin,"system:masters"\n')
    store, peer, port = _free_ports(3)
    url = f"https://127.0.0.1:{port}"
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(
            _running(
                folder,
                "etcd",
                f"--data-dir={folder / 'etcd'}",
                "--unsafe-no-fsync",
                f"--listen-client-urls=http://127.0.0.1:{store}",
                f"--advertise-client-urls=http://127.0.0.1:{store}",
                f"--listen-peer-urls=http://127.0.0.1:{peer}",
            )
        )
        await stack.enter_async_context(
            _running(
                folder,
                "kube-apiserver",
                f"--etcd-servers=http://127.0.0.1:{store}",
                "--bind-address=127.0.0.1",
                f"--secure-port={port}",
                f"--tls-cert-file={certificates.certificate}",
                f"--tls-private-key-file={certificates.key}",
                f"--cert-dir={folder}",
                f"--token-auth-file={tokens}",
                "--authorization-mode=RBAC",
                "--allow-privileged=true",
                "--service-cluster-ip-range=10.0.0.0/24",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={signing}",
                f"--service-account-signing-key-file={signing}",
                "--endpoint-reconciler-type=none",
            )
        )
        client = connect(url, certificates.authority, token)
        stack.push_async_callback(client.aclose)
        await _ready(client, folder)
        kubeconfig = _kubeconfig(folder, url, certificates.authority, token)
        if program("kube-controller-manager"):
            await stack.enter_async_context(
                _running(
                    folder,
                    "kube-controller-manager",
                    f"--kubeconfig={kubeconfig}",
                    f"--service-account-private-key-file={signing}",
                    f"--root-ca-file={certificates.authority}",
                    "--leader-elect=false",
                    "--secure-port=0",
                )
            )
        yield client


@contextlib.asynccontextmanager
async def _running(folder: Path, name: str, *arguments: str) -> AsyncIterator[None]:
    log = folder / f"{name}.log"
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            str(program(name)), *arguments, cwd=folder, stdin=asyncio.subprocess.DEVNULL, stdout=out, stderr=out
        )
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 10)
        except TimeoutError:
            process.kill()
            await process.wait()


async def _ready(client: Client, folder: Path) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            with contextlib.suppress(httpx.TransportError):
                if (await client.get("/readyz")).status_code == 200:
                    return
            await asyncio.sleep(0.2)


def _kubeconfig(folder: Path, url: str, authority: Path, token: str) -> Path:
    path = folder / "kubeconfig"
    path.touch(mode=0o600)
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "original",
        "clusters": [{"name": "original", "cluster": {"server": url, "certificate-authority": str(authority)}}],
        "users": [{"name": "original", "user": {"token": token}}],
        "contexts": [{"name": "original", "context": {"cluster": "original", "user": "original"}}],
    }
    path.write_text(yaml.safe_dump(config))
    return path


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [int(each.getsockname()[1]) for each in found]
