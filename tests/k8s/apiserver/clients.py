"""The API of a cluster over plain HTTP, the same for the double and the original."""

import ssl
from pathlib import Path
from typing import Any

import httpx

from tests.k8s.cluster_double.objects.resources import BY_KIND

Object = dict[str, Any]
Client = httpx.AsyncClient


def connect(url: str, authority: Path, token: str) -> Client:
    trust = ssl.create_default_context(cafile=str(authority))
    return Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, verify=trust, timeout=60)


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
