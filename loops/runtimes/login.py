"""Logins of subscriptions: what is in their files, and how their tokens are refreshed. Pure."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from loops.runtimes.base import CredentialKind

EARLY = 300.0
"""Seconds before its end at which an access token is refreshed."""


@dataclass(frozen=True)
class Tokens:
    """What a login's file holds. `expires` are UNIX seconds, None where nobody knows; without a `refresh` token it is
    good until it is not. `key`: it holds an API key in their place."""

    access: str = field(default="", repr=False)
    refresh: str = field(default="", repr=False)
    expires: float | None = None
    account: str = ""
    key: str = field(default="", repr=False)

    def is_due(self, now: float) -> bool:
        """Whether they have to be refreshed before they are used."""
        return bool(self.refresh) and self.expires is not None and self.expires - EARLY <= now


@dataclass(frozen=True)
class Login:
    """A kind of login. `read` and `written` raise ValueError, without quoting a secret, for what is none.

    `written(file, answer, now)`: the file once its tokens were refreshed with that answer of `token_url`, to which
    `request(tokens)` is sent as JSON. `endpoint` is where models answer it, `headers(tokens, asked)` what proves it
    there: `asked` are those of the agent's request, by lower-case name. `stand_in` is what a box is handed a turn's
    token as, in its place.
    """

    kind: CredentialKind
    read: Callable[[str], Tokens]
    token_url: str
    request: Callable[[Tokens], Mapping[str, str]]
    written: Callable[[str, Mapping[str, Any], float], str]
    endpoint: str
    headers: Callable[[Tokens, Mapping[str, str]], Mapping[str, str]]
    stand_in: CredentialKind = "api_key"


def document_of(text: str) -> dict[str, Any]:
    """The JSON object of a login's file. Raises ValueError without quoting it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError("The stored login is no JSON object: sign in again and store the whole file.")
    return found


def answered(answer: Mapping[str, Any], name: str) -> str:
    """The token `name` of a refresh's answer. Raises ValueError where it is missing."""
    found = answer.get(name)
    if not isinstance(found, str) or not found:
        raise ValueError(f"the answer holds no {name}")
    return found


def claim_of(token: str, name: str) -> Any:
    """What a JWT claims, by its own word; None for what is no JWT."""
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return claims.get(name)
    except (ValueError, LookupError, AttributeError):
        return None


def at_utc(now: float) -> str:
    """UNIX seconds as logins write times."""
    return datetime.fromtimestamp(now, UTC).isoformat().replace("+00:00", "Z")
