"""The little of Kubernetes' protobuf encoding that kubectl and Helm insist on, decoded to plain objects.

https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding: four magic bytes, then an envelope with
the type and the raw message. Field numbers are those of the generated .proto files, which never change.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from tests.k8s.cluster_double.objects.errors import Refused

Object = dict[str, Any]

MEDIA = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class Field:
    """One field of a message: its JSON name and how its bytes read."""

    name: str
    kind: Literal["text", "number", "flag", "texts", "text map", "bytes map", "message"]
    message: "dict[int, Field] | None" = None


METADATA = {
    1: Field("name", "text"),
    2: Field("generateName", "text"),
    3: Field("namespace", "text"),
    5: Field("uid", "text"),
    6: Field("resourceVersion", "text"),
    11: Field("labels", "text map"),
    12: Field("annotations", "text map"),
    14: Field("finalizers", "texts"),
}
PRECONDITIONS = {1: Field("uid", "text"), 2: Field("resourceVersion", "text")}
WITH_METADATA = {1: Field("metadata", "message", METADATA)}
MESSAGES: dict[str, dict[int, Field]] = {
    "Secret": WITH_METADATA
    | {
        2: Field("data", "bytes map"),
        3: Field("type", "text"),
        4: Field("stringData", "text map"),
        5: Field("immutable", "flag"),
    },
    "ConfigMap": WITH_METADATA
    | {2: Field("data", "text map"), 3: Field("binaryData", "bytes map"), 4: Field("immutable", "flag")},
    "Namespace": WITH_METADATA,
    "ServiceAccount": WITH_METADATA,
    "DeleteOptions": {
        1: Field("gracePeriodSeconds", "number"),
        2: Field("preconditions", "message", PRECONDITIONS),
        4: Field("propagationPolicy", "text"),
    },
}


def decode(raw: bytes) -> Object:
    """The object in a request body. Raises Refused 415 for a type that is not among the few."""
    if not raw.startswith(MAGIC):
        raise Refused(400, "BadRequest", "the body does not begin with the magic bytes of Kubernetes protobuf")
    try:
        envelope = dict(_fields(raw[len(MAGIC) :]))
        kinds = dict(_fields(envelope[1]))
        kind = kinds[2].decode()
        if kind not in MESSAGES:
            raise Refused(415, "UnsupportedMediaType", f"{kind} is only understood as JSON or YAML here")
        found = {"apiVersion": kinds[1].decode(), "kind": kind, **_message(envelope[2], MESSAGES[kind])}
    except (KeyError, IndexError, AttributeError, UnicodeDecodeError) as error:
        raise Refused(400, "BadRequest", f"the protobuf body cannot be read: {error}") from error
    if kind == "DeleteOptions":
        found.pop("apiVersion")
    return found


def _message(raw: bytes, fields: dict[int, Field]) -> Object:
    found: Object = {}
    for number, value in _fields(raw):
        field = fields.get(number)
        if field is None:
            continue
        if field.kind == "text":
            found |= {field.name: value.decode()} if value else {}
        elif field.kind == "number":
            found[field.name] = value
        elif field.kind == "flag":
            found[field.name] = bool(value)
        elif field.kind == "texts":
            found.setdefault(field.name, []).append(value.decode())
        elif field.kind == "message":
            found[field.name] = _message(value, field.message or {})
        else:
            pair = dict(_fields(value))
            content = pair.get(2, b"")
            text = base64.b64encode(content).decode() if field.kind == "bytes map" else content.decode()
            found.setdefault(field.name, {})[pair.get(1, b"").decode()] = text
    return found


def _fields(raw: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field: an int or bytes."""
    at = 0
    while at < len(raw):
        key, at = _varint(raw, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = _varint(raw, at)
            yield number, value
            continue
        if wire == BYTES:
            size, at = _varint(raw, at)
        else:
            size = {FIXED64: 8, FIXED32: 4}[wire]
        if at + size > len(raw):
            raise IndexError("a field is longer than its message")
        yield number, raw[at : at + size]
        at += size


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
