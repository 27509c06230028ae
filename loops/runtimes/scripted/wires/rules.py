"""What more than one provider refuses: names of tools that are none, images of other kinds."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from loops.runtimes.scripted.wires.wire import BadRequest

IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""The media types of images that OpenAI and Anthropic take."""
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_DATA_URL = re.compile(r"data:([\w/+.-]+);base64,(.*)", re.DOTALL)
_STARTS = {
    "image/jpeg": b"\xff\xd8\xff",
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}


def check_tool(place: str, name: object, schema: object) -> None:
    """Raises BadRequest for a name that is none, or parameters that are no object."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadRequest(f"Invalid '{place}.name': string does not match pattern '^[a-zA-Z0-9_-]{{1,128}}$'.")
    if schema is not None and (not isinstance(schema, Mapping) or schema.get("type") != "object"):
        raise BadRequest(f"Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \"object\"'.")


def check_image_url(url: Any) -> None:
    """Raises BadRequest for an image that OpenAI would not take: this server fetches none, and wants the data."""
    found = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
    if found is None:
        raise BadRequest("Invalid image: this server takes a data URL in base64.")
    check_image(found.group(1), found.group(2))


def check_image(media_type: object, data: object) -> None:
    """Raises BadRequest for another kind of image, for data that is no base64, and where the two do not fit."""
    if media_type not in IMAGES:
        raise BadRequest(f"media_type: Input should be {', '.join(map(repr, IMAGES))}; it is {media_type!r}.")
    try:
        content = base64.b64decode(str(data), validate=True)
    except binascii.Error:
        raise BadRequest("image: invalid base64 data") from None
    if not content.startswith(_STARTS[str(media_type)]):
        raise BadRequest(f"Image does not match the provided media type {media_type}")
