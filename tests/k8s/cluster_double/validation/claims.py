"""Claims of volumes, alone or in a template."""

from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, denied, if_named, one_of, required, unknown
from tests.k8s.cluster_double.validation.metadata import selector
from tests.k8s.cluster_double.validation.names import dns_subdomain
from tests.k8s.cluster_double.validation.quantities import quantity, shown

Object = dict[str, Any]

MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def claim(spec: Object, path: str = "spec") -> Iterator[str]:
    modes = spec.get("accessModes") or []
    if not modes:
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from selector(f"{path}.selector", spec.get("selector"))
    for mode in modes:
        if mode not in MODES:
            yield unknown(f"{path}.accessModes", mode, MODES)
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield denied(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes")
    requests = (spec.get("resources") or {}).get("requests") or {}
    if "storage" not in requests:
        yield required(f"{path}.resources[storage]")
    elif (size := quantity(requests["storage"])) <= 0:
        yield bad(f"{path}.resources[storage]", shown(size, requests["storage"]), "must be greater than zero")
    yield from if_named(f"{path}.storageClassName", spec.get("storageClassName"), dns_subdomain)
    yield from one_of(f"{path}.volumeMode", spec.get("volumeMode"), ("Block", "Filesystem"))
    yield from if_named(f"{path}.volumeAttributesClassName", spec.get("volumeAttributesClassName"), dns_subdomain)
    source = spec.get("dataSourceRef") or spec.get("dataSource") or {}
    if source.get("kind") and not source.get("name"):
        # what names one names the other; a source of no kind is dropped
        yield required(f"{path}.dataSource.name")
        yield required(f"{path}.dataSourceRef.name")
