"""Where an account's requests go, and what proves whose they are. Pure: nothing of it comes from a box."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from loops.gateway import headers
from loops.gateway.carriers import bedrock, vertex
from loops.gateway.carriers.carrier import Carrier, Sent
from loops.gateway.endpoints import ModelRequest, upstream_url
from loops.runtimes import profiles
from loops.runtimes.base import CredentialKind
from loops.runtimes.spec import Wire

_CARRIERS: Final[Mapping[tuple[str, CredentialKind], Carrier]] = {
    ("amazon-bedrock", "aws_bearer_token"): bedrock.BY_TOKEN,
    ("amazon-bedrock", "aws_access_key"): bedrock.BY_KEY,
    ("google-vertex", "google_service_account"): vertex.VERTEX,
    ("google-vertex-anthropic", "google_service_account"): vertex.VERTEX,
}


@dataclass(frozen=True)
class Account:
    """A provider account with its secret in the clear; never stored, shown or logged in this form."""

    id: int
    provider: str
    kind: CredentialKind
    base_url: str = ""
    secret: str = field(default="", repr=False)
    access: str = field(default="", repr=False)
    """A token of an hour, made of the secret, where its provider takes no other."""


@dataclass(frozen=True)
class Upstream:
    """The base URL, and the headers that the account adds, or who carries the request in a form of its own; `secrets`
    are what no answer may show to a box.
    """

    base: str
    proof: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    account: Account | None = None
    carrier: Carrier | None = None

    def request(self, asked: ModelRequest, passing: Mapping[str, str], now: float) -> Sent:
        """What is sent for `asked`. Raises ValueError for a secret or an address that is none."""
        if self.carrier is not None and self.account is not None:
            about = self.account
            return self.carrier.request(self.base, about.secret, about.access, asked, passing, now)
        url = upstream_url(self.base, asked.wire, asked.path)
        return Sent(url, headers.sent(passing, self.proof), asked.body)


def upstream_of(account: Account, wire: Wire, asked: Mapping[str, str]) -> Upstream:
    """Raises ValueError for an account of which nobody knows where it is to be used, or whose login cannot be read."""
    base = account.base_url or base_of(account.provider, account.kind, wire)
    if base is None:
        raise ValueError(f'Nobody knows where "{account.provider}" answers: its account needs --base-url.')
    if (carrier := _CARRIERS.get((account.provider, account.kind))) is not None:
        return Upstream(base, {}, carrier.secrets(account.secret, account.access), account, carrier)
    if (login := profiles.login_of(account.kind)) is None:
        proof = _key(account, wire) if account.kind == "api_key" else {}
        return Upstream(base, proof, (account.secret,) if proof else ())
    tokens = login.read(account.secret)
    if tokens.key and not account.base_url:
        base = profiles.endpoint_of("openai", wire) or base
    secrets = tuple(each for each in (tokens.access, tokens.refresh, tokens.key) if each)
    return Upstream(base, login.headers(tokens, asked), secrets)


def base_of(provider: str, kind: CredentialKind, wire: Wire) -> str | None:
    """The usual endpoint of an account that names none; None where nobody knows it."""
    login = profiles.login_of(kind)
    return login.endpoint if login is not None else profiles.endpoint_of(provider, wire)


def _key(account: Account, wire: Wire) -> dict[str, str]:
    secret = account.secret
    if account.provider == "azure":
        return {"api-key": secret}
    match wire:
        case "messages":
            return {"x-api-key": secret}
        case "generate_content":
            return {"x-goog-api-key": secret}
        case _:
            return {"authorization": f"Bearer {secret}"}
