"""Codex' `auth.json` out of what people have: its own file, or OpenCode's with an OpenAI login."""

import json

from loops.runtimes.base import JSON


def auth_file(secret: str) -> bytes:
    """`auth.json` as Codex reads it. Raises ValueError, without quoting the secret, when it is neither form.

    Codex' own form has `tokens` or `OPENAI_API_KEY`; OpenCode's has `openai`, an `oauth` or an `api` entry.
    """
    try:
        document = json.loads(secret)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ValueError("The stored ChatGPT login is no JSON object: sign in again and store the whole auth.json.")
    if "tokens" in document or "OPENAI_API_KEY" in document:
        return secret.encode()
    entry = document.get("openai")
    if isinstance(entry, dict) and entry.get("type") == "api" and entry.get("key"):
        return json.dumps({"OPENAI_API_KEY": entry["key"]}).encode()
    if isinstance(entry, dict) and entry.get("type") == "oauth" and entry.get("access") and entry.get("refresh"):
        return json.dumps(_from_login(entry)).encode()
    raise ValueError('The stored login holds no usable "openai" entry: expected an "oauth" or "api" one.')


def _from_login(entry: JSON) -> JSON:
    # OpenCode keeps no id token. Codex reads plan and account from it; the access token is a JWT with the same claims.
    tokens = {
        "id_token": entry["access"],
        "access_token": entry["access"],
        "refresh_token": entry["refresh"],
        "account_id": entry.get("accountId"),
    }
    return {"auth_mode": "chatgpt", "OPENAI_API_KEY": None, "tokens": tokens}
