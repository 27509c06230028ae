"""How agents fail, whatever agent it is: the kind, what to tell people, and how it goes on. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal


class FailureKind(StrEnum):
    """Why a turn has no answer."""

    CREDENTIALS = "credentials"
    ACCESS = "model_access"
    MODEL = "unknown_model"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    CONTEXT = "context_too_long"
    POLICY = "refused_by_policy"
    NETWORK = "model_unreachable"
    TOOL = "tool_failed"
    BUG = "agent_failed"
    KILLED = "agent_killed"


Way = Literal["later", "account", "fresh", "stop"]


@dataclass(frozen=True)
class Words:
    """A few words for tables; what happened, what a person can do, how it goes on by itself; and what whoever runs the
    service can do.

    `later`: the same turn is tried again. `account`: with the next account, where its owner listed one. `fresh`: once
    more in a new conversation. `stop`: it ends. `{handle}` is our mention.
    """

    title: str
    what: str
    then: str
    way: Way
    operator: str = ""


ON: Final[Mapping[Way, str]] = {
    "later": "A turn that ends like this is tried again later by itself.",
    "account": "A turn that ends like this goes on with the account that is listed as fallback; without one it ends.",
    "fresh": "A turn that ends like this is tried once more in a new conversation.",
    "stop": "A turn that ends like this is over.",
}
"""How a turn goes on, by the way of its failure."""

WORDS: Final[Mapping[FailureKind, Words]] = {
    FailureKind.CREDENTIALS: Words(
        "no working account",
        "The agent has no working account with its provider.",
        "Whose account it is has to mend it. Or name another agent with `--runtime`; then `{handle} retry`.",
        "account",
        "`greenloop profile list` shows the accounts; `greenloop profile add` replaces a key.",
    ),
    FailureKind.ACCESS: Words(
        "model not allowed",
        "The account may not use this model.",
        "Name another `--model`, or have the provider allow this one, then `{handle} retry`.",
        "stop",
    ),
    FailureKind.MODEL: Words(
        "unknown model",
        "The provider does not know this model.",
        "Name another one with `--model`, then `{handle} retry`.",
        "stop",
    ),
    FailureKind.QUOTA: Words(
        "budget used up",
        "What the account may spend with its provider is used up.",
        "Raise its limit there, or use another account, then `{handle} retry`.",
        "account",
        "The account's limit stands with its provider; `greenloop profile list` shows whose account it is.",
    ),
    FailureKind.RATE_LIMIT: Words(
        "provider's rate limit",
        "The provider limits how fast this account may go, and went on doing so.",
        "Try `{handle} retry` later, or raise the limit with the provider.",
        "later",
    ),
    FailureKind.OVERLOADED: Words(
        "provider overloaded",
        "The model's provider was overloaded, and stayed so.",
        "Try `{handle} retry` later, or name another `--model`.",
        "later",
    ),
    FailureKind.CONTEXT: Words(
        "context too long",
        "The work does not fit into the model's context.",
        "Ask for less in one go, or name a `--model` with a larger context, then `{handle} retry`.",
        "fresh",
    ),
    FailureKind.POLICY: Words(
        "refused by policy",
        "The provider refused the request by its policy.",
        "Put it into other words, or name another `--model`, then `{handle} retry`.",
        "stop",
    ),
    FailureKind.NETWORK: Words(
        "model unreachable",
        "The model could not be reached.",
        "Try `{handle} retry`. If it happens again, tell whoever runs Greenloop.",
        "later",
        "Look at network policies, proxies and the account's endpoint; `greenloop doctor --network` tries it.",
    ),
    FailureKind.TOOL: Words(
        "agent's tool failed",
        "A tool of the agent failed, and the agent with it.",
        "Its last words are below. `{handle} retry` tries once more.",
        "stop",
    ),
    FailureKind.BUG: Words(
        "agent failed",
        "The agent itself failed.",
        "Its last words are below. `{handle} retry` tries once more.",
        "stop",
        "The session's page has the whole output; `greenloop doctor` tells whether the agent's program is there.",
    ),
    FailureKind.KILLED: Words(
        "agent ended",
        "The agent was ended before it had an answer.",
        "`{handle} retry` tries once more.",
        "stop",
        "A box that ran out of memory ends its agent: the log names it under `box.lost`.",
    ),
}


@dataclass(frozen=True)
class Told:
    """What is known of a failure: the CLI's or provider's `text`, HTTP `status`, names of the fault in `code`, seconds
    after which the provider wants to be asked again, and how the process ended. Times of day in the text are those
    after `now`, in UNIX seconds.
    """

    text: str = ""
    status: int | None = None
    code: str = ""
    retry_after: float | None = None
    exit_code: int | None = None
    exited: bool = True
    now: float | None = None


@dataclass(frozen=True)
class Sign:
    """A failure is of `kind` if all that is given here fits: one of the HTTP statuses, one of the exit codes, a pattern
    found in the names of the fault, one found in the text.
    """

    kind: FailureKind
    status: tuple[int, ...] = ()
    exit: tuple[int, ...] = ()
    code: str = ""
    text: str = ""

    def fits(self, told: Told) -> bool:
        """Whether it does."""
        return (
            (not self.status or told.status in self.status)
            and (not self.exit or told.exit_code in self.exit)
            and (not self.code or re.search(self.code, told.code, re.IGNORECASE) is not None)
            and (not self.text or re.search(self.text, told.text, re.IGNORECASE) is not None)
        )


@dataclass(frozen=True)
class Failure:
    """A failure, classified. `message` is the useful line of what was said."""

    kind: FailureKind
    message: str
    retry_after: float | None = None
