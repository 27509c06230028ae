"""A ChatGPT login: Codex' `auth.json`, or OpenCode's. How it is refreshed was read off Codex (0.171)."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from loops.runtimes.codex.auth_file import auth_file
from loops.runtimes.login import Login, Tokens, answered, at_utc, claim_of, document_of

_CLIENT: Final = "app_EMoamEEZ73f0CkXaXp7hrann"
_VERSION = re.compile(r"codex[\w-]*/(\d+\.\d+\.\d+)")


def read(text: str) -> Tokens:
    """The tokens, or the API key, of either file."""
    document = document_of(auth_file(text).decode())
    tokens = document.get("tokens")
    if not isinstance(tokens, dict) or not tokens.get("access_token"):
        if key := document.get("OPENAI_API_KEY"):
            return Tokens(key=str(key))
        raise ValueError("The stored ChatGPT login holds no access token: sign in again and store the whole auth.json.")
    access = str(tokens["access_token"])
    ends = claim_of(access, "exp")
    expires = float(ends) if isinstance(ends, int | float) else None
    return Tokens(access, str(tokens.get("refresh_token") or ""), expires, str(tokens.get("account_id") or ""))


def _request(tokens: Tokens) -> Mapping[str, str]:
    return {"client_id": _CLIENT, "grant_type": "refresh_token", "refresh_token": tokens.refresh}


def _written(text: str, answer: Mapping[str, Any], now: float) -> str:
    document = document_of(text)
    access = answered(answer, "access_token")
    if isinstance(entry := document.get("openai"), dict):
        ends = now + float(answer.get("expires_in") or 3600)
        kept = {**entry, "access": access, "refresh": answer.get("refresh_token") or entry.get("refresh")}
        return json.dumps({**document, "openai": {**kept, "expires": int(ends * 1000)}})
    new = {name: answer[name] for name in ("id_token", "access_token", "refresh_token") if answer.get(name)}
    return json.dumps({**document, "tokens": {**document["tokens"], **new}, "last_refresh": at_utc(now)})


def _headers(tokens: Tokens, asked: Mapping[str, str]) -> Mapping[str, str]:
    if tokens.key:
        return {"authorization": f"Bearer {tokens.key}"}
    headers = {"authorization": f"Bearer {tokens.access}"}
    if tokens.account:
        headers["chatgpt-account-id"] = tokens.account
    if told := _VERSION.search(asked.get("user-agent", "")):
        headers["version"] = told.group(1)
    return headers


LOGIN: Final = Login(
    kind="opencode_auth_json",
    read=read,
    token_url="https://auth.openai.com/oauth/token",  # noqa: S106  an address
    request=_request,
    written=_written,
    endpoint="https://chatgpt.com/backend-api/codex",
    headers=_headers,
)
