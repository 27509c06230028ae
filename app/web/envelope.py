"""The few facts of a webhook's body that its row in the inbox carries; everything else is read later."""

import json
from typing import Any
from urllib.parse import parse_qs

import msgspec

LARGEST_ID = 2**63 - 1


class NoJson(ValueError):
    """The body holds no JSON object."""


class _Named(msgspec.Struct):
    id: int | None = None


class Envelope(msgspec.Struct):
    """`action`, and the ids of installation and repository, each None where the payload has none."""

    action: str | None = None
    installation: _Named | None = None
    repository: _Named | None = None

    @property
    def installation_id(self) -> int | None:
        return _key(self.installation)

    @property
    def repository_id(self) -> int | None:
        return _key(self.repository)


_decode = msgspec.json.Decoder(Envelope).decode


def unwrap(body: bytes, content_type: bytes) -> bytes:
    """The JSON of a body that came as a form (`payload=…`, GitHub's other content type). Raises NoJson."""
    if not content_type.startswith(b"application/x-www-form-urlencoded"):
        return body
    values = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=100)
    if "payload" not in values:
        raise NoJson("the form has no field `payload`")
    return values["payload"][0].encode("utf-8", "replace")


def read(body: bytes) -> Envelope:
    """The envelope of a JSON body. Tolerant: a field of an unusual type counts as missing. Raises NoJson."""
    try:
        return _decode(body)
    except (ValueError, RecursionError):
        return _read_slowly(body)


def _read_slowly(body: bytes) -> Envelope:
    """Broken UTF-8, half surrogates and odd types stand in real payloads; the standard library reads them."""
    try:
        value = json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise NoJson(f"the body is no JSON ({len(body)} bytes): {error}") from error
    if not isinstance(value, dict):
        raise NoJson(f"the body is a JSON {type(value).__name__}, not an object")
    action = value.get("action")
    return Envelope(
        action if isinstance(action, str) else None, _named(value, "installation"), _named(value, "repository")
    )


def _named(value: dict[str, Any], name: str) -> _Named | None:
    thing = value.get(name)
    key = thing.get("id") if isinstance(thing, dict) else None
    return _Named(key) if isinstance(key, int) and not isinstance(key, bool) else None


def _key(thing: _Named | None) -> int | None:
    return thing.id if thing is not None and thing.id is not None and 0 <= thing.id <= LARGEST_ID else None
