"""Logins that their CLI refreshes: whether one can be used, and which of two versions is the newer. Pure."""

import base64
import json
from datetime import UTC, datetime
from typing import Any, get_args

from loops.runtimes.base import CredentialKind
from loops.runtimes.cloud_keys import access_key, service_account
from loops.runtimes.codex.auth_file import auth_file

KINDS = get_args(CredentialKind)
_SAME_ACCOUNT = ("account_id", "accountId")


def check(provider: str, kind: str, secret: str) -> None:
    """Raises ValueError, without quoting the secret, where `secret` is no credential of that kind and provider."""
    if kind not in KINDS:
        raise ValueError(f"There is no kind of credential called {kind!r}. Known: {', '.join(KINDS)}.")
    if kind == "api_key" and not (secret.isascii() and secret.isprintable()):
        raise ValueError("This is no API key: one is a single line of ASCII characters.")
    if kind == "anthropic_oauth_token" and not (secret.isascii() and secret.isprintable() and secret):
        raise ValueError("This is no token of `claude setup-token`: one is a single line of ASCII characters.")
    if kind == "opencode_auth_json":
        auth_file(secret)
    if kind == "aws_access_key":
        access_key(secret)
    if kind == "google_service_account":
        service_account(secret)
    if kind == "aws_bearer_token" and not (secret.isascii() and secret.isprintable() and secret):
        raise ValueError("This is no API key of Bedrock: one is a single line of ASCII characters.")
    if kind.startswith("anthropic_oauth") and provider != "anthropic":
        raise ValueError(f"A login of Claude Code is of the provider anthropic, not of {provider!r}.")
    if kind == "anthropic_oauth_json" and not _part(_document(secret) or {}).get("accessToken"):
        raise ValueError(
            "This is no login of Claude Code: expected the whole .credentials.json, with `claudeAiOauth` in it."
        )


def is_newer(offered: str, stored: str, *, untouched: bool) -> bool:
    """Whether `offered`, which a CLI left behind, is to take the place of `stored`.

    A refresh token is good for one refresh, so of two turns that began with one login the later refresh is the only
    one that still works. Codex tells the time of it (`last_refresh`), Claude Code when the access token ends
    (`expiresAt`, milliseconds); else the access token itself does, where it is a JWT. Where no time is told, it counts
    whether `stored` is `untouched` since the turn was given it. Broken JSON and other accounts' logins are never newer.
    """
    new, old = _document(offered), _document(stored)
    if new is None or (old is not None and _differ(new, old)):
        return False
    at, before = _time(new), _time(old) if old is not None else None
    if at is None or before is None:
        return untouched
    return at > before


def _document(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _part(document: dict[str, Any]) -> dict[str, Any]:
    """The part that holds the tokens, in each of the three files."""
    for name in ("tokens", "claudeAiOauth", "openai"):
        if isinstance(part := document.get(name), dict):
            return part
    return {}


def _differ(one: dict[str, Any], other: dict[str, Any]) -> bool:
    accounts = [{str(part[name]) for name in _SAME_ACCOUNT if part.get(name)} for part in map(_part, (one, other))]
    return all(accounts) and accounts[0] != accounts[1]


def _time(document: dict[str, Any]) -> float | None:
    """When the login was refreshed, or when it ends: comparable within one kind of file. UNIX seconds."""
    part = _part(document)
    told = document.get("last_refresh")
    if isinstance(told, str):
        try:
            at = datetime.fromisoformat(told.replace("Z", "+00:00"))
        except ValueError:
            return None
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    ends = part.get("expiresAt")
    if isinstance(ends, int | float):
        return float(ends) / 1000
    return _issued(part.get("access_token") or part.get("access"))


def _issued(token: object) -> float | None:
    """When a JWT was issued, by its own word."""
    try:
        payload = str(token).split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return float(claims["iat"])
    except (ValueError, LookupError, TypeError):
        return None
