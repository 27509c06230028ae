"""To whom the states of sessions are told, as the operator's file says. Pure but for reading that file."""

import base64
import binascii
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from loops.store.states import SessionStatus

Format = Literal["standard", "slack"]
PREFIX = "whsec_"
SECRET_BYTES = range(24, 65)
"""https://github.com/standard-webhooks/standard-webhooks, "Signature scheme": between 24 and 64 bytes."""


class BadHooks(ValueError):
    """The file of hooks cannot be used, in words that hold none of its secrets."""


class Hook(BaseModel):
    """One address. `standard`: a signed JSON message, by Standard Webhooks; `slack`: a line of text, as Slack's
    incoming webhooks take it; there the address is the secret.

    `secrets`: base64 behind `whsec_`; two during a rotation, and every message is signed with each. `states` and
    `repositories` (globs of OWNER/NAME) say what is told; without them everything is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$")]
    url: SecretStr
    format: Format = "standard"
    secrets: tuple[SecretStr, ...] = ()
    states: frozenset[SessionStatus] = frozenset(SessionStatus)
    repositories: tuple[str, ...] = ("*",)

    @field_validator("url")
    @classmethod
    def _url(cls, url: SecretStr) -> SecretStr:
        parts = urlsplit(url.get_secret_value())
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.fragment:
            raise ValueError("it must be http(s)://HOST/…, without user and fragment")
        return url

    @field_validator("secrets")
    @classmethod
    def _secrets(cls, secrets: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        for secret in secrets:
            _check(secret)
        return secrets

    @model_validator(mode="after")
    def _secret_for_what_is_signed(self) -> Self:
        if (self.format == "standard") != bool(self.secrets):
            raise ValueError("`secrets` is for format `standard`, which needs at least one")
        return self

    @property
    def host(self) -> str:
        """Where it goes, for people: of the address, the host alone is no secret."""
        return urlsplit(self.url.get_secret_value()).hostname or ""

    def wants(self, status: SessionStatus, repository: str) -> bool:
        """Whether this is told to it."""
        name = repository.lower()
        return status in self.states and any(fnmatchcase(name, glob.lower()) for glob in self.repositories)


def _check(secret: SecretStr) -> None:
    text = secret.get_secret_value()
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not text.startswith(PREFIX) or len(key) not in SECRET_BYTES:
        raise ValueError("a secret is `whsec_` and 24 to 64 bytes in base64: whsec_$(openssl rand -base64 32)")


def read_hooks(file: Path) -> tuple[Hook, ...]:
    """The hooks of a file: a JSON list. Raises BadHooks."""
    where = f"GREENLOOP_HOOKS_FILE: {file}"
    try:
        found = _LIST.validate_json(file.expanduser().read_bytes())
    except OSError as error:
        raise BadHooks(f"{where} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise BadHooks(f"{where}: {place + ': ' if place else ''}{first['msg']}") from None
    names = [hook.name for hook in found]
    if double := next((name for name in names if names.count(name) > 1), None):
        raise BadHooks(f"{where}: two hooks are named {double!r}; each needs a name of its own")
    return found


def named(hooks: Sequence[Hook], name: str) -> Hook | None:
    """The hook of that name; None where the file has it no more."""
    return next((hook for hook in hooks if hook.name == name), None)


_LIST = TypeAdapter(tuple[Hook, ...])
