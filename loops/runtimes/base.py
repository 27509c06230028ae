"""The one interface of all runtimes: what a turn asks for, what is started, and what its output means."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from loops.runtimes.failures import Failure

CredentialKind = Literal[
    "api_key",
    "opencode_auth_json",
    "anthropic_oauth_json",
    "anthropic_oauth_token",
    "aws_bearer_token",
    "aws_access_key",
    "google_service_account",
    "none",
]
EventKind = Literal[
    "session",
    "assistant_delta",
    "assistant_completed",
    "reasoning",
    "tool_started",
    "tool_completed",
    "file_edit",
    "command",
    "plan",
    "usage",
    "status",
    "error",
]
JSON = dict[str, Any]

EVENT_TEXT = 30_000
"""Longest text of one event, in characters; what is longer loses its middle and says so."""
SUMMARY_TEXT = 2_000
"""Longest final message that is taken from raw output, in characters."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)")
_NOISE = re.compile(
    r"Reading additional input from stdin|WARNING: |Warning: |\[claude-code:|\[STARTUP\]|Ripgrep is not|"
    r"Attempt \d+ failed|Suggested retry|at \S.*\(?\S+:\d+:\d+\)?$|[\[\]{}()^|~\s]+$"
)
_NAMED = re.compile(r"(?:fatal|error)\b.*?: \S", re.IGNORECASE)


@dataclass(frozen=True)
class Credential:
    """A profile's secret as it is while a turn is prepared. Never printed, logged or stored in this form."""

    kind: CredentialKind = "none"
    secret: str = field(default="", repr=False)


@dataclass(frozen=True)
class Resume:
    """A conversation to go on with: the CLI's own id, the directory it began in, and the CLI's running totals.

    `cwd` may hold the placeholder `{home}`. `totals` is `Outcome.totals` of the conversation's last turn: some CLIs
    count tokens or cost from the beginning of the conversation, and the difference is this turn's.
    """

    id: str
    cwd: str = "{workdir}"
    totals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class TurnRequest:
    """One turn, before a runtime has made a command line of it.

    `session` names the directory of the CLI's own files ([A-Za-z0-9_-]+), so that conversations of one box do not see
    each other's credentials. `program`, split as a shell would, is the command of the `command` runtime; for the others
    it replaces the executable. `max_cost` is in US dollars. `read_only` takes the editing tools away where the CLI can;
    the service publishes nothing of such a turn either way. `images` are files in the box that belong to the prompt,
    for agents that can show them to their model. `env` is added last and wins. Paths may use the placeholders {home},
    {workdir} and {turn_dir}, filled by the runner.

    `relay` is set where `base_url` is our model gateway's and the credential its token of this turn: it leads to the
    `provider`'s usual endpoint, or to a `custom` one that the account names.
    """

    prompt: str
    session: str = "session"
    model: str = ""
    provider: str = ""
    base_url: str = ""
    relay: Literal["", "provider", "custom"] = ""
    credential: Credential = field(default_factory=Credential)
    resume: Resume | None = None
    max_steps: int | None = None
    max_cost: float | None = None
    read_only: bool = False
    images: tuple[str, ...] = ()
    program: str = ""
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BoxFile:
    """A file that is put into the home of a turn, which ends with it. `path` is relative to the home.

    With `read_back` the runner returns its contents after the turn if they changed. A `secret` one is handed out with
    the turn and never stored with it.
    """

    path: str
    content: bytes = field(repr=False)
    mode: int = 0o600
    read_back: bool = False
    secret: bool = False


@dataclass(frozen=True)
class Invocation:
    """What the runner starts, in the checkout, with the prompt on stdin.

    All secrets are in `secret_env` and in the files marked `secret`; the rest may be stored. `conversation` names the
    files below the home (`*` in a name, a last `**` for all below) that the CLI needs to resume: transcripts, and
    nothing that it obeys. They alone of a home are there again in the next turn of the session.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    files: tuple[BoxFile, ...] = ()
    stdin: str = field(default="", repr=False)
    conversation: tuple[str, ...] = ()


@dataclass(frozen=True)
class RuntimeEvent:
    """One thing that happened. Payloads by kind (all JSON; texts clipped to `EVENT_TEXT`):

    session {id}; assistant_delta {text, message_id}; assistant_completed {text, message_id}; reasoning {text};
    tool_started {id, name, input}; tool_completed {id, name, output, ok}; file_edit {path, change: add|update|delete,
    bytes: int|null}; command {id, command, exit_code: int|null}; status {text}; error {message, final: bool};
    plan {items: [{text, state: pending|active|done|dropped}]}: the whole check list, in place of the former;
    usage {steps, input, cached, output, reasoning, cost: float|null}: what was added since the last usage event of this
    turn, so that events are summed; `input` counts cached tokens too, `output` those of reasoning, `cost` is in US
    dollars, null if unknown. A cost with 0 steps is that of all steps before it.
    """

    kind: EventKind
    payload: JSON


@dataclass(frozen=True)
class ProcessEnd:
    """How the process ended. `files` are contents read back, by the path of the `BoxFile`.

    `message` is what the runner says about an end that was not the process's own; `now` is when it was reported, in
    UNIX seconds.
    """

    exit_code: int | None
    reason: str = "exited"
    stderr_tail: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    message: str = ""
    now: float | None = None


@dataclass(frozen=True)
class Outcome:
    """What a turn came to. `error` is set only where there is no answer.

    `retry_fresh` says that the CLI refused the conversation id: the turn may run again without `Resume`, with a summary
    of what went before in its prompt. `limit` is the cap at which the CLI stopped by itself, `failure` what kind of end
    it was, where `error` is set and the runtime is an agent. `events` are those the ending itself gives (a usage
    correction, say).
    """

    message: str
    error: str | None
    session_id: str | None = None
    totals: Mapping[str, float] = field(default_factory=dict)
    retry_fresh: bool = False
    limit: Literal["steps", "cost"] | None = None
    failure: Failure | None = None
    events: tuple[RuntimeEvent, ...] = ()


class Parser(Protocol):
    """Reads one turn's output. Between two lines its whole memory is `state()`, a small JSON object."""

    def parse(self, line: str) -> list[RuntimeEvent]:
        """The events of one line (without its line end). Never raises: what cannot be read becomes a `status`."""
        ...

    def state(self) -> JSON:
        """Give this to `RuntimeSpec.parser(state)` in another process to go on after the last parsed line."""
        ...

    def outcome(self, ending: ProcessEnd) -> Outcome:
        """What the turn came to, once all lines are parsed."""
        ...


def executable(turn: TurnRequest, default: str) -> list[str]:
    """The beginning of argv: `turn.program`, else `default`. Raises ValueError when its quotes do not close."""
    try:
        return shlex.split(turn.program) or shlex.split(default)
    except ValueError as error:
        raise ValueError(f"The agent command {turn.program!r} cannot be split: {error}.") from None


def clip(text: str, limit: int = EVENT_TEXT) -> str:
    """`text` with its middle left out when longer than `limit` characters; the head is a third of what stays."""
    if len(text) <= limit:
        return text
    head = limit // 3
    tail = limit - head
    return f"{text[:head]}\n… {len(text) - limit} characters left out …\n{text[-tail:]}"


def plain(text: str) -> str:
    """`text` without what only a terminal understands."""
    return _ANSI.sub("", text)


def process_error(who: str, ending: ProcessEnd, said: str = "") -> str:
    """One sentence on why `who` ended without an answer.

    With it goes the line of stderr that names the error, else its last; where stderr is empty, of what it `said`.
    """
    lines = [line.strip() for text in (said, ending.stderr_tail) for line in plain(text).splitlines()]
    useful = [line for line in lines if line and not _NOISE.match(line)]
    # of an error with a stack or an excerpt behind it, the line that names it
    last = next((line for line in useful if _NAMED.match(line)), useful[-1] if useful else "")
    if ending.reason != "exited" and ending.message:
        return ending.message
    if ending.reason != "exited":
        how = f"was ended ({ending.reason})"
    elif ending.exit_code is not None and ending.exit_code < 0:
        how = f"was killed by signal {-ending.exit_code}"
    else:
        how = f"exited with code {ending.exit_code}"
    return f"{who} {how} and gave no answer" + (f": {clip(last, 500)}" if last else ".")
