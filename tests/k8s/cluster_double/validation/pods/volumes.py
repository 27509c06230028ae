"""The volumes of a pod."""

from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, denied, each_bad, named, one_of, required, unknown
from tests.k8s.cluster_double.validation.claims import claim
from tests.k8s.cluster_double.validation.metadata import annotations, labels
from tests.k8s.cluster_double.validation.names import dns_subdomain, local_file
from tests.k8s.cluster_double.validation.pods.variables import FILE_FIELDS, amount_of_container, field_of_pod
from tests.k8s.cluster_double.validation.quantities import quantity

Object = dict[str, Any]

# Sources that need a name, and the field that has it.
NAMED = {"secret": "secretName", "configMap": "name", "persistentVolumeClaim": "claimName"}
# The order in which sources are looked at: the first counts, any other is one too many.
SOURCES = (
    "emptyDir", "hostPath", "secret", "nfs", "persistentVolumeClaim", "downwardAPI", "configMap", "projected", "csi",
    "ephemeral", "image",
)  # fmt: skip
HOST_PATHS = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
TOKEN_SECONDS = (600, 2**32)


def volume(path: str, item: Object) -> Iterator[str]:
    kinds = sorted((kind for kind in item if kind != "name"), key=lambda kind: (*SOURCES, kind).index(kind))
    for kind in kinds[1:]:
        yield denied(f"{path}.{kind}", "may not specify more than 1 volume type")
    for kind in kinds[:1]:
        yield from _source(f"{path}.{kind}", kind, item[kind] or {})


def _source(path: str, kind: str, source: Object) -> Iterator[str]:
    if kind in NAMED and not source.get(NAMED[kind]):
        yield required(f"{path}.{NAMED[kind]}")
    if kind in ("secret", "configMap", "projected", "downwardAPI"):
        yield from _mode(f"{path}.defaultMode", source.get("defaultMode"))
    if kind in ("secret", "configMap"):
        yield from _items(f"{path}.items", source.get("items") or [])
    elif kind == "emptyDir":
        if source.get("sizeLimit") is not None and quantity(source["sizeLimit"]) < 0:
            yield denied(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")
    elif kind == "downwardAPI":
        for each in source.get("items") or []:
            yield from _file_of_pod(path, each)
    elif kind in OTHERS:
        yield from OTHERS[kind](path, source)


def _mode(path: str, mode: int | None) -> Iterator[str]:
    if mode is not None and not 0 <= mode <= 0o777:
        yield bad(path, mode, "must be a number between 0 and 0777 (octal), both inclusive")


def _items(path: str, items: list[Object]) -> Iterator[str]:
    for at, item in enumerate(items):
        if not item.get("key"):
            yield required(f"{path}[{at}].key")
        yield from named(f"{path}[{at}].path", item.get("path"), local_file)
        yield from _mode(f"{path}[{at}].mode", item.get("mode"))


def _file_of_pod(path: str, item: Object) -> Iterator[str]:
    yield from named(f"{path}.path", item.get("path"), local_file)
    if item.get("fieldRef") is not None:
        yield from field_of_pod(f"{path}.fieldRef", item["fieldRef"], FILE_FIELDS)
        if item.get("resourceFieldRef") is not None:
            yield bad(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif item.get("resourceFieldRef") is not None:
        if not item["resourceFieldRef"].get("containerName"):
            yield required(f"{path}.resourceFieldRef.containerName")
        yield from amount_of_container(f"{path}.resourceFieldRef", item["resourceFieldRef"])
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from _mode(f"{path}.mode", item.get("mode"))


def _projected(path: str, source: Object) -> Iterator[str]:
    taken: set[str] = set()
    for at, part in enumerate(source.get("sources") or []):
        here = f"{path}.sources[{at}]"
        for kind in ("secret", "configMap"):
            if part.get(kind) is not None:
                if not part[kind].get("name"):
                    yield required(f"{here}.{kind}.name")
                yield from _items(f"{here}.{kind}.items", part[kind].get("items") or [])
                for item in part[kind].get("items") or []:
                    if item.get("path") in taken:
                        yield bad(path, part[kind].get("name", ""), "conflicting duplicate paths")
                    taken.add(item.get("path", ""))
        for each in (part.get("downwardAPI") or {}).get("items") or []:
            yield from _file_of_pod(f"{here}.downwardAPI", each)
        if part.get("serviceAccountToken") is not None:
            yield from _token(path, f"{here}.serviceAccountToken", part["serviceAccountToken"])
        if len([kind for kind in part if part[kind] is not None]) > 1:
            yield denied(here, "may not specify more than 1 volume type per source")


def _token(path: str, here: str, token: Object) -> Iterator[str]:
    seconds = token.get("expirationSeconds")
    least, most = TOKEN_SECONDS
    if seconds is not None and seconds < least:
        yield bad(f"{here}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds is not None and seconds > most:
        yield bad(f"{here}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    yield from named(f"{path}.path", token.get("path"), local_file)


def _host_path(path: str, source: Object) -> Iterator[str]:
    where, kind = source.get("path", ""), source.get("type")
    if not where:
        yield required(f"{path}.path")
    elif ".." in where.split("/"):
        yield bad(f"{path}.path", where, "must not contain '..'")
    if kind is not None and kind not in HOST_PATHS:
        yield unknown(f"{path}.type", kind, HOST_PATHS)


def _nfs(path: str, source: Object) -> Iterator[str]:
    for field in ("server", "path"):
        if not source.get(field):
            yield required(f"{path}.{field}")
    if source.get("path") and not source["path"].startswith("/"):
        yield bad(f"{path}.path", source["path"], "must be an absolute path")


def _csi(path: str, source: Object) -> Iterator[str]:
    driver = source.get("driver") or ""
    if not driver:
        yield required(f"{path}.driver")
    elif len(driver) > 63:
        yield f"{path}.driver: Too long: may not be more than 63 bytes"
    yield from each_bad(f"{path}.driver", driver, dns_subdomain(driver.lower()) if driver else ())


def _ephemeral(path: str, source: Object) -> Iterator[str]:
    template, here = source.get("volumeClaimTemplate"), f"{path}.volumeClaimTemplate"
    if template is None:
        yield required(here)
        return
    given = template.get("metadata") or {}
    yield from annotations(f"{here}.metadata.annotations", given.get("annotations") or {})
    yield from labels(f"{here}.metadata.labels", given.get("labels") or {})
    for field in sorted(given.keys() - {"annotations", "labels"}):
        yield denied(f"{here}.metadata.{field}", "cannot be set")
    yield from claim(template.get("spec") or {}, f"{here}.spec")


def _image(path: str, source: Object) -> Iterator[str]:
    if not source.get("reference"):
        yield required(f"{path}.reference")
    yield from one_of(f"{path}.pullPolicy", source.get("pullPolicy"), ("Always", "IfNotPresent", "Never"))


OTHERS = {
    "projected": _projected,
    "hostPath": _host_path,
    "nfs": _nfs,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
