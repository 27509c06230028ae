"""How agents fail, whatever agent it is: the kind, what to tell people, and how it goes on. Pure.

What each CLI says when it fails was observed with the real ones; codes and types are those that the providers document.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Literal


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
    after which the provider wants to be asked again, and how the process ended.
    """

    text: str = ""
    status: int | None = None
    code: str = ""
    retry_after: float | None = None
    exit_code: int | None = None
    exited: bool = True


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


# What OpenAI, Anthropic, Google and those who speak like them say, the more exact first; a CLI's own table goes before.
PROVIDERS: Final = (
    # what our model gateway says where it gets no answer
    Sign(FailureKind.NETWORK, text="cannot reach the model's endpoint|the model's endpoint sends elsewhere"),
    Sign(FailureKind.CONTEXT, code="context_length_exceeded|contextoverflow|prompt_too_long|request_too_large"),
    Sign(
        FailureKind.CONTEXT,
        text=r"context (?:length|window)|prompt is too long|input token count.{0,60}exceeds|too many (?:input )?tokens",
    ),
    Sign(FailureKind.QUOTA, status=(402,)),
    Sign(FailureKind.QUOTA, code="insufficient_quota|billing|usage_limit|usage_not_included|credits?_"),
    Sign(
        FailureKind.QUOTA,
        text=r"quota|usage limit|hit your limit|credit balance|out of credits|insufficient (?:funds|credit|balance)|"
        r"budget (?:is )?(?:used up|exceeded|exhausted|spent)|billing",
    ),
    Sign(FailureKind.POLICY, code="content_policy|content_filter|policy_violation|invalid_prompt|prohibited_content"),
    Sign(FailureKind.POLICY, text=r"content (?:policy|filter)|usage polic(?:y|ies)|flagged (?:as|for)|safety system"),
    Sign(FailureKind.MODEL, code="model_not_found|unknown_model|unsupported_model|ProviderModelNotFound"),
    Sign(
        FailureKind.MODEL,
        text=r"model\W.{0,100}(?:not exist|not found|not supported|unknown|not available|no longer)|"
        r"(?:unknown|invalid|unsupported|no such) model|models/\S+ is not found",
    ),
    Sign(FailureKind.CREDENTIALS, status=(401,)),
    Sign(FailureKind.CREDENTIALS, code="authentication|invalid_api_key|unauthenticated|token_expired|ProviderAuth"),
    Sign(
        FailureKind.CREDENTIALS,
        text=r"\b401\b|(?:invalid|incorrect|missing|no) (?:x-)?api[ -]?key|api key (?:not valid|is missing|expired)|"
        r"not logged in|/login\b|(?:refresh|access) token|token (?:has |is )?expired|missing environment variable",
    ),
    Sign(FailureKind.ACCESS, status=(403,)),
    Sign(FailureKind.ACCESS, code="permission_(?:error|denied)|access_denied"),
    Sign(FailureKind.ACCESS, text=r"\b403 Forbidden|not have (?:access|permission)|permission denied for model"),
    Sign(FailureKind.RATE_LIMIT, status=(429,)),
    Sign(FailureKind.RATE_LIMIT, code="rate_limit|resource_exhausted|too_many_requests"),
    Sign(FailureKind.RATE_LIMIT, text=r"rate.?limit|\b429\b|too many requests"),
    Sign(FailureKind.OVERLOADED, status=(500, 502, 503, 504, 529)),
    Sign(FailureKind.OVERLOADED, code="overloaded|server_error|unavailable|internal"),
    Sign(FailureKind.OVERLOADED, text=r"overloaded|at capacity|high demand|\b5(?:0[0234]|29)\b|temporarily unavail"),
    Sign(
        FailureKind.NETWORK,
        text=r"connect(?:ion|ing)? .{0,40}(?:refused|reset|failed|closed|error)|connection error|E(?:CONN\w+|NOTFOUND|"
        r"AI_AGAIN|TIMEDOUT|HOSTUNREACH)|(?:unable|cannot|failed|could not) (?:to )?connect|fetch failed|"
        r"socket hang up|error sending request|stream (?:disconnected|closed)|timed out|error: terminated|certificate",
    ),
    Sign(FailureKind.TOOL, text=r"\bMCP\b|tool \S+ (?:failed|crashed|timed out)|failed to start (?:the )?tool"),
    # a shell's way to say that a signal ended it: INT, KILL (out of memory, too), TERM
    Sign(FailureKind.KILLED, exit=(130, 137, 143)),
)


@dataclass(frozen=True)
class Failure:
    """A failure, classified. `message` is the useful line of what was said."""

    kind: FailureKind
    message: str
    retry_after: float | None = None


_STATUS = re.compile(r"(?:status(?:_code)?:? |error:? |code:? |answered |\()(\d{3})\b", re.IGNORECASE)
_DELAY = re.compile(r"(?:retry|try again)(?: again)?(?: in| after)? (\d+(?:\.\d+)?) ?(ms|m|s|h)?", re.IGNORECASE)
_UNIT: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}


def classify(signs: tuple[Sign, ...], told: Told) -> Failure:
    """The kind of a failure by the CLI's own table, then by what providers say; else a bug of the CLI."""
    known = _read(told)
    if not told.exited:
        return Failure(FailureKind.KILLED, known.text)
    kind = next((sign.kind for sign in (*signs, *PROVIDERS) if sign.fits(known)), None)
    if kind is None:
        kind = FailureKind.KILLED if (told.exit_code or 0) < 0 else FailureKind.BUG
    return Failure(kind, known.text, known.retry_after)


def _read(told: Told) -> Told:
    """With what stands in the text: an error object of a provider, an HTTP status, a time to wait."""
    found = list(_objects(told.text))
    code = " ".join([told.code, *(name for _, names, _ in found for name in names)]).strip()
    text = next((message for message, _, _ in reversed(found) if message), told.text)
    status, after = told.status, told.retry_after
    if status is None and (match := _STATUS.search(told.text)):
        status = int(match.group(1))
    if after is None:
        after = next((delay for _, _, delay in found if delay is not None), None)
    if after is None and (match := _DELAY.search(text)):
        after = float(match.group(1)) * _UNIT[(match.group(2) or "").lower()]
    status = status if status is not None else next((int(name) for name in code.split() if name.isdigit()), None)
    return replace(told, text=text.strip(), code=code, status=status, retry_after=after)


def _objects(text: str) -> Iterator[tuple[str, list[str], float | None]]:
    """(message, names of the fault, seconds to wait) of the error object in `text`, and of one inside its message."""
    start = text.find("{")
    if start < 0:
        return
    try:
        data, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return
    error: Any = data.get("error", data)
    if isinstance(error, str):
        error = {**data, "message": error}
    if not isinstance(error, dict):
        return
    message = str(error.get("message") or error.get("detail") or "")
    names = [str(error[name]) for name in ("type", "code", "status") if error.get(name)]
    yield message, names, _delay(error.get("details"))
    yield from _objects(message)


def _delay(details: object) -> float | None:
    """Google's `RetryInfo`."""
    for each in details if isinstance(details, list) else ():
        told = str(each.get("retryDelay", "")) if isinstance(each, dict) else ""
        if re.fullmatch(r"\d+(\.\d+)?s", told):
            return float(told[:-1])
    return None
