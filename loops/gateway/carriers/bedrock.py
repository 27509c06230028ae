"""Anthropic's models at Amazon Bedrock: the Messages API in `InvokeModel`. Pure.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html; what stands in the
body was observed with Claude Code (2.1) in its own mode for Bedrock.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

import msgspec

from loops.gateway.carriers.carrier import Carrier, Sent
from loops.gateway.carriers.event_stream import EventStream
from loops.gateway.carriers.sigv4 import signed
from loops.gateway.endpoints import ModelRequest, joined, parts_of
from loops.runtimes.cloud_keys import access_key, region_of

_OWN_BETAS: Final = ("claude-code-", "oauth-")
"""Those that mean something to Anthropic's own API only; Bedrock refuses what it does not know."""


def _sent(base: str, asked: ModelRequest, passing: Mapping[str, str]) -> Sent:
    method = "invoke-with-response-stream" if asked.stream else "invoke"
    url = f"{base.rstrip('/')}/model/{quote(asked.model, safe='')}/{method}"
    parts = parts_of(asked.body)
    for name in ("model", "stream"):
        parts.pop(name, None)
    betas = [each.strip() for each in passing.get("anthropic-beta", "").split(",")]
    named = [each for each in betas if each and not each.startswith(_OWN_BETAS)]
    told = {"anthropic_version": "bedrock-2023-05-31", **({"anthropic_beta": named} if named else {})}
    parts |= {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in told.items()}
    return Sent(url, {"content-type": "application/json", "accept-encoding": "identity"}, joined(parts))


def _with_token(
    base: str, secret: str, access: str, asked: ModelRequest, passing: Mapping[str, str], now: float
) -> Sent:
    sent = _sent(base, asked, passing)
    return Sent(sent.url, {**sent.headers, "authorization": f"Bearer {secret}"}, sent.body)


def _with_key(base: str, secret: str, access: str, asked: ModelRequest, passing: Mapping[str, str], now: float) -> Sent:
    sent = _sent(base, asked, passing)
    headers = signed(access_key(secret), region_of(base), "bedrock", sent.url, sent.headers, sent.body, now)
    return Sent(sent.url, headers, sent.body)


def _values(secret: str, access: str) -> tuple[str, ...]:
    key = access_key(secret)
    return tuple(each for each in (key.secret, key.session) if each)


_PACKED: Final = "application/vnd.amazon.eventstream"
BY_TOKEN: Final = Carrier(_with_token, lambda secret, access: (secret,), _PACKED, EventStream)
"""By what the CLIs take as AWS_BEARER_TOKEN_BEDROCK."""
BY_KEY: Final = Carrier(_with_key, _values, _PACKED, EventStream)
"""By an access key."""
