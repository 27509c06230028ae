"""What a browser keeps for us: encrypted, for this host only, out of reach of scripts."""

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from starlette.requests import HTTPConnection
from starlette.responses import Response

from loops.secrets.vault import Vault, VaultError

PERSON = "greenloop"
FLOW = "greenloop-signin"


class Cookies:
    """Writes and reads cookies with keys that are derived from the service's encryption keys, the newest first.

    `secure` is for a service behind https; browsers then refuse the cookie from any other host or path.
    """

    def __init__(self, keys: Sequence[str], *, secure: bool) -> None:
        self._vault = Vault([_derived(key) for key in keys])
        self._secure = secure

    def read(self, connection: HTTPConnection, name: str, now: float) -> dict[str, Any] | None:
        """What was written under `name`; None for nothing, something foreign, or something too old."""
        token = connection.cookies.get(self._name(name))
        if not token:
            return None
        try:
            found = json.loads(self._vault.decrypt(token.encode()))
        except (VaultError, ValueError):
            return None
        if found.get("for") != name or not now < found.get("until", 0):
            return None
        return dict(found)

    def write(self, response: Response, name: str, values: dict[str, Any], *, now: float, until: float) -> None:
        """Keep `values` until that Unix time."""
        token = self._vault.encrypt(json.dumps({**values, "for": name, "until": until})).decode()
        response.set_cookie(
            self._name(name), token, max_age=int(until - now), secure=self._secure, httponly=True, samesite="lax"
        )

    def drop(self, response: Response, name: str) -> None:
        response.delete_cookie(self._name(name), secure=self._secure, httponly=True, samesite="lax")

    def _name(self, name: str) -> str:
        return f"__Host-{name}" if self._secure else name


def _derived(key: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(b"greenloop sign-in\0" + key.encode()).digest()).decode()
