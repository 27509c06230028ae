"""What a box has in place of an account's secret: a token of the turn, for our model gateway, while it runs."""

import secrets

from loops.runtimes import profiles
from loops.runtimes.base import Credential, CredentialKind


def mint() -> str:
    """A new token: random, so that its hash is all that has to be stored."""
    return "glm_" + secrets.token_urlsafe(32)


def stand_in(kind: CredentialKind, token: str) -> Credential:
    """The token in the shape in which the CLI expects an account of that kind."""
    login = profiles.login_of(kind)
    return Credential(login.stand_in if login is not None else "api_key", token)
