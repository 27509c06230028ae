"""Conversations on disk, so that a later turn goes on where the last one ended."""

import os
import re
import uuid
from collections.abc import Sequence
from pathlib import Path

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from k8s.native.images import without_images

_ID = re.compile(r"[A-Za-z0-9-]+\Z")


class UnknownConversationError(LookupError):
    """There is nothing to go on with."""


def new_id() -> str:
    """The id of a new conversation."""
    return str(uuid.uuid4())


def read(folder: Path, identity: str) -> list[ModelMessage]:
    """The messages of a conversation. Raises UnknownConversationError."""
    try:
        if not _ID.match(identity):
            raise FileNotFoundError(identity)
        return ModelMessagesTypeAdapter.validate_json((folder / f"{identity}.json").read_bytes())
    except (OSError, ValueError):
        raise UnknownConversationError(f"No conversation found with id {identity}") from None


def write(folder: Path, identity: str, messages: Sequence[ModelMessage]) -> None:
    """Keep the messages, readable by nobody else; a crash leaves the old file or the new one. Images are not kept: they
    were shown, and are larger than all that was said.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = folder / f".{identity}.{os.getpid()}"
    fresh.touch(0o600)
    fresh.write_bytes(ModelMessagesTypeAdapter.dump_json(without_images(messages)))
    fresh.replace(folder / f"{identity}.json")
