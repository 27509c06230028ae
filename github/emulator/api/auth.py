"""Who is calling: an App by JWT, an installation, a person, or nobody."""

import base64
import binascii
import hmac

from github.emulator.actor import ANONYMOUS, Actor
from github.emulator.errors import Refusal, bad_credentials
from github.emulator.faults import Faults
from github.emulator.store.apps import App
from github.emulator.store.installations import InstallationToken
from github.emulator.store.store import Store
from github.emulator.tokens import verify_app_jwt


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


def authenticate(store: Store, faults: Faults, header: str | None) -> Actor:
    """The caller. Raises `Refusal` 401, 403 (suspended) or 404 (unknown App)."""
    client = _client(store, header)
    if client is not None:
        return Actor("client", None, client)
    secret = credential(header)
    if secret is None:
        return ANONYMOUS
    if secret.startswith("ghs_"):
        token = store.tokens.get(secret)
        if token is None:
            raise bad_credentials()
        return _installation(store, faults, token)
    if secret.count(".") == 2:
        app = verify_app_jwt(store, secret, store.now())
        return Actor("app", app.bot, app)
    person = store.user_tokens.get(secret)
    if person is not None:
        if person.revoked or person.expires_at <= store.now():
            raise bad_credentials()
        return Actor("user", person.user, person.app)
    user = store.user_by_token(secret)
    if user is None:
        raise bad_credentials()
    return Actor("user", user)


def _client(store: Store, header: str | None) -> App | None:
    """The App whose client id and secret are the Basic credentials."""
    scheme, _, rest = (header or "").strip().partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, _, secret = base64.b64decode(rest).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    found = next((app for app in store.apps if app.client_id == name), None)
    if found is not None and not hmac.compare_digest(found.client_secret, secret):
        raise bad_credentials()
    return found


def _installation(store: Store, faults: Faults, token: InstallationToken) -> Actor:
    installation = token.installation
    if token.revoked or installation.deleted or token.expires_at <= store.now():
        raise bad_credentials()
    if installation.suspended_at is not None:
        raise Refusal(403, "This installation has been suspended")
    token.calls += 1
    if faults.token_lags(token):
        raise bad_credentials()
    return Actor("installation", installation.app.bot, installation.app, token)
