"""Images that go with a task, such as screenshots in an issue."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic_ai.messages import BinaryContent, ModelMessage, ModelRequest, UserContent, UserPromptPart

from k8s.native.image_types import LARGEST_IMAGE, MOST_IMAGES, media_type

_LEFT_OUT = "(An image was here.)"


def read_images(paths: Sequence[Path]) -> list[BinaryContent]:
    """The first `MOST_IMAGES` of them that every provider takes: PNG, JPEG, GIF and WebP that are not too large. The
    content tells the kind, never the name.
    """
    found: list[BinaryContent] = []
    for path in paths:
        try:
            content = path.read_bytes() if path.is_file() and path.stat().st_size <= LARGEST_IMAGE else b""
        except OSError:
            continue
        if kind := media_type(content):
            found.append(BinaryContent(content, media_type=kind))
    return found[:MOST_IMAGES]


def with_images(text: str, images: Sequence[BinaryContent]) -> str | list[UserContent]:
    """A prompt: plain text where there are none, which every server takes."""
    return [text, *images] if images else text


def holds_images(messages: Sequence[ModelMessage]) -> bool:
    """Whether there is one in them."""
    return any(_shows(part) for message in messages for part in message.parts)


def without_images(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages with words in place of images."""
    return [
        replace(message, parts=[_in_words(part) if _shows(part) else part for part in message.parts])
        if isinstance(message, ModelRequest)
        else message
        for message in messages
    ]


def _shows(part: object) -> bool:
    content = part.content if isinstance(part, UserPromptPart) else ()
    return not isinstance(content, str) and any(isinstance(each, BinaryContent) for each in content)


def _in_words(part: object) -> UserPromptPart:
    if not isinstance(part, UserPromptPart):
        raise TypeError(type(part).__name__)
    return replace(part, content=[_LEFT_OUT if isinstance(each, BinaryContent) else each for each in part.content])
