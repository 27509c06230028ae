"""What a runtime is: all that the rest of Greenloop has to know of an agent, in one value. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from loops.runtimes.base import JSON, CredentialKind, Invocation, Parser, TurnRequest
from loops.runtimes.failures import Sign
from loops.runtimes.login import Login

ANY: Literal[""] = ""
"""In place of a provider's name: any that has an endpoint which the runtime can speak to."""

Wire = Literal["responses", "chat", "messages", "generate_content"]
"""Protocols of models: OpenAI's Responses API, its chat completions, Anthropic's Messages API, Google's Gemini API."""


class ParserFactory(Protocol):
    """Makes the parser of one turn."""

    def __call__(self, state: JSON | None = None, *, totals: Mapping[str, float] | None = None) -> Parser:
        """New (with the `totals` of the resumed conversation), or going on from `state`."""
        ...


@dataclass(frozen=True)
class Accepts:
    """Accounts that a runtime can be driven with: those of `provider` with a credential of one of `kinds`.

    `first_choice`: where nobody asks for a runtime, such an account gets this one. `on_request`: it is not offered, but
    runs for whoever names it. `needs_model`: the account has to name one, since what the agent picks is not there.
    """

    provider: str
    kinds: tuple[CredentialKind, ...] = ("api_key",)
    first_choice: bool = False
    on_request: bool = False
    needs_model: bool = False


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens: `input` that is not cached, `cached` input, and `output`."""

    input: float
    cached: float
    output: float


@dataclass(frozen=True)
class Endpoint:
    """Where a provider answers `wires`. The URL is as people write it: with the version for OpenAI's protocols only."""

    provider: str
    url: str
    wires: tuple[Wire, ...] = ("chat",)


def _same(given: str, asked: str) -> bool:
    return given == asked


def _itself(given: str) -> str:
    return given


@dataclass(frozen=True)
class ModelCalls:
    """How an agent asks its model, for the gateway that stands between. As observed with the real ones.

    `wires(provider, custom)`: the protocols it speaks with that provider; `custom`: behind an endpoint of one's own.
    `spent_status`, `spent_plain`: the refusal after which it asks no more and shows what it was told; as plain text, or
    in its provider's shape. `keep_alive`: what may be put between two events of a silent stream, so that it goes on
    waiting. `may_ask(given, asked)`: whether a turn that was given the one model may ask for the other.
    `asks_for(given)`: the model that it asks its provider for where it was given that one, or none; empty: not known.
    """

    wires: Callable[[str, bool], tuple[Wire, ...]]
    spent_status: int = 402
    spent_plain: bool = False
    keep_alive: bytes = b": waiting for the model\n\n"
    may_ask: Callable[[str, str], bool] = _same
    asks_for: Callable[[str], str] = _itself


@dataclass(frozen=True)
class Tools:
    """Names and parameters of the tools that the agent offers its model, for the scripted one.

    `read`: (tool, path); `write`: (tool, path, content); `edit`: (tool, path, old text, new text); `run`: (tool,
    command). `edits`: the parameter of the edit tool that is a list of edits, which hold old and new text. None: the
    agent has no such tool. `patch` is one that takes Codex' patches. `also` are parameters that a
    tool insists on, with a value.
    """

    run: tuple[str, str]
    read: tuple[str, str] | None = None
    write: tuple[str, str, str] | None = None
    edit: tuple[str, str, str, str] | None = None
    edits: str | None = None
    patch: str | None = None
    also: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Smoke:
    """How the agent is tried with a script in place of a model: the provider to name, its protocol, and the tools."""

    provider: str
    wire: Wire
    tools: tuple[Tools, ...]


@dataclass(frozen=True)
class RuntimeSpec:
    """An agent. Pure: nothing here starts, reads or writes anything.

    `title` and `help` are for people. `program` is looked up on PATH; `package` is the npm package that brings it, None
    where the box has it already. `command` says what to start for a turn, and raises ValueError, saying why, when the
    turn cannot be expressed. `accepts`: the accounts it runs with; none for a program that brings its own.
    `needs_model`: it picks no model by itself. `key_variables` are the environment variables that usually hold a
    provider's key, the likeliest first, each with the provider; `greenloop demo` looks there. `key_prefixes` are how
    the keys of a provider begin, and no other's. `endpoints` are those of the providers it knows by name: any
    other needs one that is named. `calls`: how it asks its model; None: it asks none that we know of. `signs`: its
    table of failures. `logins` are the
    kinds of login it runs with. `prices` are list prices of the models of the agent's own provider, by the beginning of
    the model's name. `key_files` are the files, as the
    end of a path, that hold its login: never published.
    `answers`: its last words are for people; what a program prints is a log. `shows_images`: it can be given files to
    show to its model.
    """

    name: str
    title: str
    help: str
    command: Callable[[TurnRequest], Invocation]
    parser: ParserFactory
    program: str = ""
    package: str | None = None
    accepts: tuple[Accepts, ...] = ()
    needs_model: bool = False
    key_variables: tuple[tuple[str, str], ...] = ()
    key_prefixes: Mapping[str, str] = field(default_factory=dict)
    endpoints: tuple[Endpoint, ...] = ()
    calls: ModelCalls | None = None
    signs: tuple[Sign, ...] = ()
    logins: tuple[Login, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)
    key_files: tuple[str, ...] = ()
    answers: bool = True
    shows_images: bool = False
    former_names: tuple[str, ...] = ()
    smoke: Smoke | None = None

    @property
    def needs_account(self) -> bool:
        """Whether it runs with a provider account of ours; else it is the service's own program that it runs."""
        return bool(self.accepts)
