"""What an agent is asked to say of its work, in a small file beside the checkout: for its commit and pull request.

The agent writes it, so it is believed no more than its last message: it has to be of this shape and no longer than
this, and where it is not, the last message stands in.
"""

import json
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

PATH: Final = "{turn_dir}/description.json"
SCHEMA_PATH: Final = "{turn_dir}/description.schema.json"
"""Where the file, and the JSON Schema of it, are in the box: placeholders are filled by the runner."""
MOST_BYTES: Final = 64 * 1024

Words = Annotated[str, StringConstraints(max_length=6_000)]


class BadDescription(ValueError):
    """The file is not as it was asked for; the message says why, in a line without the agent's own words."""


class Description(BaseModel):
    """What an agent says of its work on a turn."""

    model_config = ConfigDict(frozen=True, strict=True, title="What was done in a turn")

    subject: Annotated[str, StringConstraints(max_length=200, pattern=r"\S")] = Field(
        description="The commit's first line, in the style of `git log` here: what changed, at most 72 characters."
    )
    what: Words = Field(description="What you did and why, for the reviewers, in Markdown.")
    checked: Words = Field(default="", description="How you checked it: which commands, and what came of them.")
    left: Words = Field(default="", description="What is left to do or to decide; empty for nothing.")


def schema() -> str:
    """The JSON Schema of the file."""
    return json.dumps(Description.model_json_schema(), indent=2) + "\n"


def read(content: bytes) -> Description:
    """The description in `content`. Raises BadDescription."""
    if len(content) > MOST_BYTES:
        raise BadDescription(f"it has more than {MOST_BYTES} bytes")
    try:
        return Description.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"][:1])
        known = where if where in Description.model_fields else ""
        raise BadDescription(f"{known}: {first['type']}" if known else str(first["type"])) from None
