"""Who is calling: an App by JWT, an installation, a person, or nobody."""

import base64
import binascii
from typing import TYPE_CHECKING

from github.emulator.api.call import ANONYMOUS, Actor
from github.emulator.api.errors import Refusal, bad_credentials
from github.emulator.store.installations import InstallationToken
from github.emulator.tokens import verify_app_jwt

if TYPE_CHECKING:
    from github.emulator.hub import Hub


def credential(header: str | None) -> str | None:
    """The secret of an `Authorization` header: `Bearer X`, `token X`, or Basic with the secret as password."""
    if not header:
        return None
    scheme, _, rest = header.strip().partition(" ")
    if scheme.lower() in ("bearer", "token"):
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            name, _, password = base64.b64decode(rest).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            raise bad_credentials() from None
        return name if password in ("", "x-oauth-basic") else password
    raise bad_credentials()


def authenticate(hub: "Hub", header: str | None) -> Actor:
    """The caller. Raises `Refusal` 401, 403 (suspended) or 404 (unknown App)."""
    secret = credential(header)
    if secret is None:
        return ANONYMOUS
    if secret.startswith("ghs_"):
        token = hub.store.tokens.get(secret)
        if token is None:
            raise bad_credentials()
        return _installation(hub, token)
    if secret.count(".") == 2:
        app = verify_app_jwt(hub.store, secret, hub.clock.now())
        return Actor("app", app.bot, app)
    user = hub.store.user_by_token(secret)
    if user is None:
        raise bad_credentials()
    return Actor("user", user)


def _installation(hub: "Hub", token: InstallationToken) -> Actor:
    installation = token.installation
    if token.revoked or installation.deleted or token.expires_at <= hub.clock.now():
        raise bad_credentials()
    if installation.suspended_at is not None:
        raise Refusal(403, "This installation has been suspended")
    token.calls += 1
    if hub.faults.token_lags(token):
        raise bad_credentials()
    return Actor("installation", installation.app.bot, installation.app, token)
