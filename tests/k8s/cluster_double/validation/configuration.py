"""Secrets, config maps and volume claims."""

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.objects.errors import bad_request
from tests.k8s.cluster_double.validation.causes import bad, denied, each_bad, required, too_long, unknown
from tests.k8s.cluster_double.validation.names import config_key, dns_subdomain
from tests.k8s.cluster_double.validation.quantities import quantity

Object = dict[str, Any]

MOST = 1024 * 1024
MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def secret(item: Object) -> Iterator[str]:
    """Raises Refused 400 for data that is no base64."""
    size = 0
    for key, value in (item.get("data") or {}).items():
        yield from each_bad(f"data[{key}]", key, config_key(key))
        try:
            size += len(base64.b64decode(value, validate=True))
        except (binascii.Error, TypeError) as error:
            words = "illegal base64 data at input byte"
            raise bad_request(f'Secret in version "v1" cannot be handled as a Secret: {words}') from error
    if size > MOST:
        yield too_long("data", MOST)
    if item.get("type") == "kubernetes.io/tls":
        for key in ("tls.crt", "tls.key"):
            if key not in (item.get("data") or {}):
                yield required(f"data[{key}]")


def config_map(item: Object) -> Iterator[str]:
    for key in item.get("data") or {}:
        yield from each_bad(f"data[{key}]", key, config_key(key))
    if sum(len(value.encode()) for value in (item.get("data") or {}).values()) > MOST:
        yield too_long("[]", MOST)


def claim(spec: Object, path: str = "spec") -> Iterator[str]:
    modes = spec.get("accessModes") or []
    if not modes:
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    for mode in modes:
        if mode not in MODES:
            yield unknown(f"{path}.accessModes", mode, MODES)
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield denied(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes")
    requests = (spec.get("resources") or {}).get("requests") or {}
    if "storage" not in requests:
        yield required(f"{path}.resources[storage]")
    elif quantity(requests["storage"]) <= 0:
        yield bad(f"{path}.resources[storage]", str(requests["storage"]), "must be greater than zero")
    if spec.get("storageClassName"):
        yield from each_bad(
            f"{path}.storageClassName", spec["storageClassName"], dns_subdomain(spec["storageClassName"])
        )
