"""A login of Claude Code, `.credentials.json`. How it is refreshed was read off the program (2.1)."""

import json
from collections.abc import Mapping
from typing import Any, Final

from loops.runtimes.login import Login, Tokens, answered, document_of

_CLIENT: Final = "9d1c250a-e61b-44d9-88ed-5944d1962f5e"
BETA: Final = "oauth-2025-04-20"
"""Without this beta the Messages API takes no token of a login."""


def _part(document: Mapping[str, Any]) -> dict[str, Any]:
    part = document.get("claudeAiOauth")
    if not isinstance(part, dict) or not part.get("accessToken"):
        raise ValueError(
            "The stored login of Claude Code holds no access token: sign in again and store the whole file."
        )
    return part


def read(text: str) -> Tokens:
    """The tokens of the file."""
    part = _part(document_of(text))
    ends = part.get("expiresAt")
    expires = float(ends) / 1000 if isinstance(ends, int | float) else None
    return Tokens(str(part["accessToken"]), str(part.get("refreshToken") or ""), expires)


def _request(tokens: Tokens) -> Mapping[str, str]:
    return {"grant_type": "refresh_token", "refresh_token": tokens.refresh, "client_id": _CLIENT}


def _written(text: str, answer: Mapping[str, Any], now: float) -> str:
    document = document_of(text)
    part = {**_part(document), "accessToken": answered(answer, "access_token")}
    part["refreshToken"] = answer.get("refresh_token") or part.get("refreshToken")
    part["expiresAt"] = int((now + float(answer.get("expires_in") or 3600)) * 1000)
    return json.dumps({**document, "claudeAiOauth": part})


def bearer(access: str, asked: Mapping[str, str]) -> Mapping[str, str]:
    """The headers that prove a login; the agent's own betas stay."""
    betas = [each.strip() for each in asked.get("anthropic-beta", "").split(",") if each.strip()]
    return {"authorization": f"Bearer {access}", "anthropic-beta": ",".join(dict.fromkeys([*betas, BETA]))}


LOGIN: Final = Login(
    kind="anthropic_oauth_json",
    read=read,
    token_url="https://platform.claude.com/v1/oauth/token",  # noqa: S106  an address
    request=_request,
    written=_written,
    endpoint="https://api.anthropic.com",
    headers=lambda tokens, asked: bearer(tokens.access, asked),
    stand_in="anthropic_oauth_token",
)
TOKEN: Final = Login(
    kind="anthropic_oauth_token",
    read=lambda text: Tokens(text.strip()),
    token_url="",
    request=_request,
    written=_written,
    endpoint="https://api.anthropic.com",
    headers=lambda tokens, asked: bearer(tokens.access, asked),
    stand_in="anthropic_oauth_token",
)
"""The long-lived token of `claude setup-token`, which nobody refreshes."""
