"""The web flow in which a person lets an App act for them, with GitHub's errors.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from github.emulator.forge import Forge
from github.emulator.store.apps import App
from github.emulator.store.authorizations import PendingAuthorization, UserToken
from github.emulator.store.users import User
from github.emulator.tokens import user_token

CODE_LIFETIME = timedelta(minutes=10)
TOKEN_SECONDS = 8 * 3600
REFRESH_SECONDS = 15_897_600
_DOCS = "https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors"


class Mismatch(Exception):
    """The redirect URI is none of the App's."""


def error(name: str, description: str) -> dict[str, str]:
    """An error as GitHub puts it into a query or an answer."""
    return {"error": name, "error_description": description, "error_uri": f"{_DOCS}/#{name.replace('_', '-')}"}


MISMATCH = error(
    "redirect_uri_mismatch", "The redirect_uri MUST match the registered callback URL for this application."
)
DENIED = error("access_denied", "The user has denied your application access.")
BAD_CODE = error("bad_verification_code", "The code passed is incorrect or expired.")
BAD_CLIENT = error("incorrect_client_credentials", "The client_id and/or client_secret passed are incorrect.")


def redirect_of(app: App, wanted: str) -> str:
    """Where to go back to: `wanted` if it is one of the App's callbacks or below it, else its first one.

    Raises Mismatch.
    """
    if not app.callback_urls:
        raise Mismatch
    if not wanted:
        return app.callback_urls[0]
    asked = urlsplit(wanted)
    for known in map(urlsplit, app.callback_urls):
        below = asked.path == known.path or asked.path.startswith(known.path.rstrip("/") + "/")
        if (asked.scheme, asked.netloc) == (known.scheme, known.netloc) and below:
            return wanted
    raise Mismatch


def agreed(forge: Forge, app: App, user: User, redirect_uri: str, challenge: str) -> PendingAuthorization:
    """The person agreed: here is the code for the redirect."""
    pending = PendingAuthorization(secrets.token_hex(10), app, user, redirect_uri, challenge, forge.now())
    forge.store.authorizations[pending.code] = pending
    return pending


def exchanged(forge: Forge, given: Mapping[str, str]) -> dict[str, Any]:
    """The answer to an exchange: a token, or an error; both are sent with 200."""
    app = next((each for each in forge.store.apps if each.client_id == given.get("client_id")), None)
    if app is None or not hmac.compare_digest(app.client_secret, given.get("client_secret", "")):
        return BAD_CLIENT
    pending = forge.store.authorizations.pop(given.get("code", ""), None)
    if pending is None or pending.app is not app or pending.created_at + CODE_LIFETIME < forge.now():
        return BAD_CODE
    if given.get("redirect_uri", pending.redirect_uri) != pending.redirect_uri:
        return MISMATCH
    if pending.challenge and _challenge(given.get("code_verifier", "")) != pending.challenge:
        return BAD_CODE
    token = UserToken(user_token(), app, pending.user, forge.now() + timedelta(seconds=TOKEN_SECONDS))
    forge.store.user_tokens[token.token] = token
    return {
        "access_token": token.token,
        "expires_in": TOKEN_SECONDS,
        "refresh_token": user_token("ghr", 76),
        "refresh_token_expires_in": REFRESH_SECONDS,
        "token_type": "bearer",
        "scope": "",
    }


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
