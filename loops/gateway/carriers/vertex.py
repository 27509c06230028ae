"""Anthropic's and Google's models at Vertex AI. Pure.

https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude; what stands in the body was
observed with Claude Code (2.1) in its own mode for Vertex.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

import msgspec

from loops.gateway.carriers.carrier import Carrier, Sent
from loops.gateway.endpoints import ModelRequest, joined, parts_of
from loops.runtimes.cloud_keys import service_account


def _sent(base: str, secret: str, access: str, asked: ModelRequest, passing: Mapping[str, str], now: float) -> Sent:
    where = base.rstrip("/")
    if "/projects/" not in where:
        where = f"{where}/projects/{service_account(secret).project}/locations/global"
    headers = {**passing, "content-type": "application/json", "accept-encoding": "identity"}
    headers |= {"authorization": f"Bearer {access}"}
    if asked.wire == "generate_content":
        method = asked.path.rpartition(":")[2]
        return Sent(f"{where}/publishers/google/models/{quote(asked.model, safe='')}:{method}", headers, asked.body)
    parts = parts_of(asked.body)
    parts.pop("model", None)
    parts["anthropic_version"] = msgspec.Raw(msgspec.json.encode("vertex-2023-10-16"))
    method = "streamRawPredict" if asked.stream else "rawPredict"
    return Sent(f"{where}/publishers/anthropic/models/{quote(asked.model, safe='@')}:{method}", headers, joined(parts))


VERTEX: Final = Carrier(_sent, lambda secret, access: (access,))
"""The account's own key is sent nowhere: what proves it is a token of an hour."""
