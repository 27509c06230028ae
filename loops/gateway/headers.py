"""Which headers pass the gateway, and which it sets. Pure.

Those that pass are listed, not those that do not: proxies in front of models are told by headers where to send a
request, for whom, and whose it is. Hop-by-hop headers (RFC 9110, 7.6.1) are among those that do not, and what a request
names in its own `Connection`.
"""

from collections.abc import Iterable, Mapping
from typing import Final

_ASKED: Final = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "conversation_id",
        "openai-beta",
        "originator",
        "session-id",
        "session_id",
        "thread-id",
        "user-agent",
        "x-app",
        "x-client-request-id",
        "x-goog-api-client",
        "x-openai-subagent",
        "x-session-affinity",
    }
)
_ASKED_PREFIXES: Final = ("x-claude-code-", "x-codex-", "x-stainless-")
_ANSWERED: Final = frozenset(
    {"content-type", "request-id", "retry-after", "retry-after-ms", "x-request-id", "x-should-retry"}
)
_ANSWERED_PREFIXES: Final = ("anthropic-ratelimit-", "x-codex-", "x-ratelimit-")


def asked(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers of an agent's request that go on, by lower-case name."""
    told = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers]
    hop = {word.strip().lower() for name, value in told if name == "connection" for word in value.split(",")}
    return {name: value for name, value in _passing(told, _ASKED, _ASKED_PREFIXES).items() if name not in hop}


def sent(passing: Mapping[str, str], proof: Mapping[str, str]) -> dict[str, str]:
    """The headers of the provider's request: `proof` is whose it is. An answer that is packed could not be read."""
    return {**passing, "content-type": "application/json", "accept-encoding": "identity", **proof}


def answered(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """The headers of the provider's answer that the agent is told."""
    passing = _passing(headers, _ANSWERED, _ANSWERED_PREFIXES)
    return [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in passing.items()]


def _passing(headers: Iterable[tuple[str, str]], names: frozenset[str], prefixes: tuple[str, ...]) -> dict[str, str]:
    told = ((name.lower(), value) for name, value in headers)
    return {name: value for name, value in told if name in names or name.startswith(prefixes)}
