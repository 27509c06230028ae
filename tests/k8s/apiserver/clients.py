"""The API of a cluster over plain HTTP, the same for the double and the original."""

import base64
import ssl
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.k8s.cluster_double.objects.resources import BY_KIND

Object = dict[str, Any]
Client = httpx.AsyncClient


def connect(url: str, authority: Path, token: str) -> Client:
    trust = ssl.create_default_context(cafile=str(authority))
    return Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, verify=trust, timeout=60)


def connect_by(kubeconfig: Path, folder: Path) -> Client:
    """As whom the kubeconfig names, by token or certificate; `folder` is for the files that TLS wants."""
    config = yaml.safe_load(kubeconfig.read_text())
    by_name = {kind: {each["name"]: each for each in config[kind]} for kind in ("contexts", "clusters", "users")}
    context = by_name["contexts"][config["current-context"]]["context"]
    cluster, user = by_name["clusters"][context["cluster"]]["cluster"], by_name["users"][context["user"]]["user"]

    def file(holder: Object, field: str) -> Path:
        if f"{field}-data" not in holder:
            return kubeconfig.parent / str(holder[field])
        made = folder / field
        made.touch(mode=0o600)
        made.write_bytes(base64.b64decode(holder[f"{field}-data"]))
        return made

    trust = ssl.create_default_context(cafile=str(file(cluster, "certificate-authority")))
    headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
    if not headers:
        trust.load_cert_chain(file(user, "client-certificate"), file(user, "client-key"))
    return Client(base_url=cluster["server"], headers=headers, verify=trust, timeout=60)


def path(kind: str, namespace: str, name: str = "") -> str:
    """Where objects of the kind are."""
    resource = BY_KIND[kind]
    root = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    space = f"/namespaces/{namespace}" if resource.namespaced else ""
    return f"{root}{space}/{resource.plural}{'/' if name else ''}{name}"


async def create(client: Client, kind: str, namespace: str, body: Object) -> httpx.Response:
    return await client.post(path(kind, namespace), params={"fieldValidation": "Strict"}, json=body)


async def make_namespace(client: Client, name: str, **labels: str) -> None:
    """A namespace with the account that its pods have; keyword `enforce` is its Pod Security level."""
    prefixed = {f"pod-security.kubernetes.io/{key}": value for key, value in labels.items()}
    made = await create(client, "Namespace", "", {"metadata": {"name": name, "labels": prefixed}})
    assert made.status_code == 201, made.text
    # Where no controller runs, nobody else makes it; where one does, it may have been quicker.
    made = await create(client, "ServiceAccount", name, {"metadata": {"name": "default"}})
    assert made.status_code in (201, 409), made.text
