"""Where an account's requests go, and what proves whose they are. Pure: nothing of it comes from a box."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from loops.runtimes import profiles
from loops.runtimes.base import CredentialKind
from loops.runtimes.spec import Wire


@dataclass(frozen=True)
class Account:
    """A provider account with its secret in the clear; never stored, shown or logged in this form."""

    id: int
    provider: str
    kind: CredentialKind
    base_url: str = ""
    secret: str = field(default="", repr=False)


@dataclass(frozen=True)
class Upstream:
    """The base URL, and the headers that the account adds; `secrets` are what no answer may show to a box."""

    base: str
    proof: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)


def upstream_of(account: Account, wire: Wire, asked: Mapping[str, str]) -> Upstream:
    """Raises ValueError for an account of which nobody knows where it is to be used, or whose login cannot be read."""
    base = account.base_url or base_of(account.provider, account.kind, wire)
    if base is None:
        raise ValueError(f'Nobody knows where "{account.provider}" answers: its account needs --base-url.')
    if (login := profiles.login_of(account.kind)) is None:
        proof = _key(wire, account.secret) if account.kind == "api_key" else {}
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


def _key(wire: Wire, secret: str) -> dict[str, str]:
    match wire:
        case "messages":
            return {"x-api-key": secret}
        case "generate_content":
            return {"x-goog-api-key": secret}
        case _:
            return {"authorization": f"Bearer {secret}"}
