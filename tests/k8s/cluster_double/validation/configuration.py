"""Secrets and config maps."""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.objects.errors import bad_request
from tests.k8s.cluster_double.validation.causes import bad, each_bad, required, too_long
from tests.k8s.cluster_double.validation.names import config_key

Object = dict[str, Any]

MOST = 1024 * 1024
# What secrets of a type have to hold.
HELD = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
ACCOUNT = "kubernetes.io/service-account.name"


def secret(item: Object) -> Iterator[str]:
    """Raises Refused 400 for data that is no base64."""
    kind, data = item.get("type"), item.get("data") or {}
    size = 0
    for key, value in data.items():
        yield from each_bad(f"data[{key}]", key, config_key(key))
        size += len(_decoded("Secret", value))
    if size > MOST:
        yield too_long("data", MOST)
    named = (item["metadata"].get("annotations") or {}).get(ACCOUNT)
    if kind == "kubernetes.io/service-account-token" and not named:
        yield required(f"metadata.annotations[{ACCOUNT}]")
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"} & data.keys():
        yield required("data[username]")
        yield required("data[password]")
    for key in HELD.get(kind or "", ()):
        if key not in data:
            yield required(f"data[{key}]")
        elif key.startswith(".docker"):
            yield from _json(f"data[{key}]", _decoded("Secret", data[key]))


def _json(path: str, text: bytes) -> Iterator[str]:
    try:
        json.loads(text)
    except ValueError:
        first = text[:1].decode(errors="replace")
        why = f"invalid character '{first}' looking for beginning of value" if first else "unexpected end of JSON input"
        yield bad(path, "<secret contents redacted>", why)


def config_map(item: Object) -> Iterator[str]:
    """Raises Refused 400 for binary data that is no base64."""
    texts, binary = item.get("data") or {}, item.get("binaryData") or {}
    for key in texts:
        yield from each_bad(f"data[{key}]", key, config_key(key))
        if key in binary:
            yield bad(f"data[{key}]", key, "duplicate of key present in binaryData")
    size = sum(len(value.encode()) for value in texts.values())
    for key, value in binary.items():
        yield from each_bad(f"binaryData[{key}]", key, config_key(key))
        size += len(_decoded("ConfigMap", value))
    if size > MOST:
        yield too_long("[]", MOST)


def _decoded(kind: str, value: str) -> bytes:
    try:
        return base64.b64decode(re.sub(r"[\r\n]", "", value), validate=True)
    except binascii.Error as error:
        odd = re.search(r"[^A-Za-z0-9+/=]", value)
        at = odd.start() if odd else len(value) // 4 * 4
        words = f'{kind} in version "v1" cannot be handled as a {kind}: illegal base64 data at input byte {at}'
        raise bad_request(words) from error
