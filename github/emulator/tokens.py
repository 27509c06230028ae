"""App JWTs checked, installation tokens minted, in GitHub's forms and with GitHub's words."""

import secrets
import string
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import jwt

from github.emulator.errors import Refusal
from github.emulator.store.apps import App
from github.emulator.store.store import Store

LIFETIME = timedelta(hours=1)
MAX_JWT_SECONDS = 600
# GitHub allows for clocks that run apart a little
SKEW_SECONDS = 60
_ALPHABET = string.ascii_letters + string.digits


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def personal_token() -> str:
    """A classic personal access token, 40 characters."""
    return f"ghp_{_random(36)}"


def user_token(prefix: str = "ghu", length: int = 36) -> str:
    """A user access token of an App, or with `ghr` the refresh token that comes with it."""
    return f"{prefix}_{_random(length)}"


@dataclass(frozen=True)
class Mint:
    """Makes installation tokens: the older 40 characters, or the stateless `ghs_<APPID>_<JWT>` of about 520."""

    key: str = field(default_factory=lambda: secrets.token_hex(32))

    def token(self, app: App, expires_at: datetime, stateless: bool) -> str:
        if not stateless:
            return f"ghs_{_random(36)}"
        claims = {"iss": str(app.id), "exp": int(expires_at.timestamp()), "jti": _random(225)}
        return f"ghs_{app.id}_{jwt.encode(claims, self.key, algorithm='HS512')}"


def verify_app_jwt(store: Store, token: str, now: datetime) -> App:
    """The App that signed this JWT. Raises `Refusal` 401 or 404 with GitHub's texts."""
    undecodable = Refusal(401, "A JSON web token could not be decoded")
    try:
        header = jwt.get_unverified_header(token)
        claims = jwt.decode(token, options={"verify_signature": False})
    except jwt.PyJWTError as error:
        raise undecodable from error
    if header.get("alg") != "RS256":
        raise undecodable
    issuer = str(claims.get("iss", ""))
    app = next((a for a in store.apps if issuer in (str(a.id), a.client_id)), None)
    if app is None:
        raise Refusal(404, "Integration not found")
    try:
        jwt.decode(
            token,
            app.public_key,
            algorithms=["RS256"],
            options={"verify_exp": False, "verify_iat": False, "verify_nbf": False, "verify_aud": False},
        )
    except jwt.PyJWTError as error:
        raise undecodable from error
    _check_times(claims.get("iat"), claims.get("exp"), now.timestamp())
    return app


def _check_times(issued: object, expires: object, now: float) -> None:
    if not isinstance(issued, int | float) or isinstance(issued, bool) or issued > now + SKEW_SECONDS:
        raise Refusal(
            401,
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
        )
    if not isinstance(expires, int | float) or isinstance(expires, bool) or expires <= now:
        raise Refusal(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the"
            " assertion expires",
        )
    if expires > now + MAX_JWT_SECONDS + SKEW_SECONDS:
        raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future")
