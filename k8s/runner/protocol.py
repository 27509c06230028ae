"""What the service and a runner say to each other: the shapes of both sides, and nothing else.

All of it is JSON over HTTP with `Authorization: Bearer <token>`: the box's for `next`, the turn's own, which comes with
the turn, for all that is about that turn. The runner asks, the service answers:

    POST   /boxes/{box}/next              {"runner": {"version", "turn", "turns"}} -> 204, or 200 with a `Turn`
    POST   /turns/{turn}/token            -> `FetchToken`: where to fetch, and with what
    DELETE /turns/{turn}/token            {"token"} -> 204
    GET    /turns/{turn}/evidence/{name}  -> bytes
    POST   /turns/{turn}/output           `Output` -> `OutputAnswer`
    PUT    /turns/{turn}/objects/{sha}    bytes of a blob -> 204
    GET    /turns/{turn}/secrets          -> {"spellings"}: what must not stay in files, the longest first
    GET    /turns/{turn}/objects/{sha}    -> bytes of a blob that an earlier round of the turn stored
    GET    /turns/{turn}/edited           -> {"paths"}: what the agent wrote by its edit tools, within the checkout
    PUT    /turns/{turn}/work             `Result` of reason `working`: what the checkout has come to so far -> 204
    PUT    /turns/{turn}/result           `Result` -> 204

`turns` are those that the runner holds (`turn` the first of them, or null): they are not handed out again.

Errors are `{"error": "…"}`. 401 and 403: the token is refused. 404: there is no such thing; 409: the turn is over; in
both cases the runner drops it. Anything 5xx, and a connection that fails, is tried again. Every
request may come twice.

Standard library only, and Python 3.9: the runner runs wherever an image has a Python.
"""

from __future__ import annotations

import base64
import re
from dataclasses import asdict, dataclass, field
from typing import Any

from .verification import Trials, Verification, trials_from_json, verification_from_json

POLL_SECONDS = 25.0
"""How long `next` may wait before it answers 204."""

OUTPUT_CHUNK = 1024 * 1024
"""Most bytes of output in one request. One line that is longer goes whole, up to `LONGEST_LINE`."""

LONGEST_LINE = 4 * 1024 * 1024
"""The service consumes whole lines only, except the last one and lines over this many bytes, which are cut here."""

DIFF_BYTES = 400_000
STDERR_BYTES = 16_000

MARKER_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,100}")
TURN_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,100}")
SHA_PATTERN = re.compile(r"[0-9a-f]{40}")

# Why a turn ended (`Result.reason`).
EXITED = "exited"
TIMEOUT = "timeout"
CANCELLED = "cancelled"
FETCH_FAILED = "fetch_failed"
START_FAILED = "start_failed"
TOO_MANY_CHANGES = "too_many_changes"
TOO_LARGE = "too_large"
RUNNER_RESTARTED = "runner_restarted"
DISK_FULL = "disk_full"
OUT_OF_MEMORY = "out_of_memory"
REPORT_FAILED = "report_failed"
REASONS = (
    *(EXITED, TIMEOUT, CANCELLED, FETCH_FAILED, START_FAILED, TOO_MANY_CHANGES, TOO_LARGE, RUNNER_RESTARTED),
    *(DISK_FULL, OUT_OF_MEMORY, REPORT_FAILED),
)

WORKING = "working"  # no reason of an end: what is told meanwhile

# What a runner is doing (`Output.state`).
FETCHING = "fetching"
RUNNING = "running"
REPORTING = "reporting"


class ProtocolError(ValueError):
    """A message that breaks the protocol; says which field and why."""


@dataclass(frozen=True)
class Merge:
    """A commit to merge into the checkout before the agent starts; conflicts are left in the files."""

    ref: str
    sha: str


@dataclass(frozen=True)
class TurnRepository:
    """What to check out. `id` is GitHub's numeric id (names change); `branch` is what the agent sees as its branch."""

    id: int
    full_name: str
    sha: str
    ref: str
    branch: str
    fetch: bool = True
    depth: int = 50
    merge: Merge | None = None


@dataclass(frozen=True)
class TurnFile:
    """A file to write before the agent starts: `path` within the home, `content` base64, `mode` permission bits.

    Gone after the turn, like all of the home. With `read_back` a changed content comes back in the result.
    """

    path: str
    content: str = ""
    mode: int = 0o600
    read_back: bool = False


@dataclass(frozen=True)
class Evidence:
    """A file to fetch from the service (`url`, a path on it) into the turn's own directory, outside the checkout."""

    path: str
    url: str


@dataclass(frozen=True)
class TurnLimits:
    """Caps of one turn: wall-clock seconds of the agent, bytes of its output, files and bytes it may change."""

    seconds: float = 1800
    output_bytes: int = 20_000_000
    changed_files: int = 300
    changed_bytes: int = 20_000_000
    file_bytes: int = 5_000_000


@dataclass(frozen=True)
class AssignedTurn:
    """One run of an agent, as `next` hands it out.

    `workdir` is relative to the home. In `argv`, the values of `env` and the paths of `files` the runner replaces
    `{home}`, `{workdir}` and `{turn_dir}` by absolute paths; in `stdin`, which holds what strangers wrote,
    `{turn_dir:MARKER}` only. `token` is the turn's own, for the runner alone. `marker` stands in the environment of
    everything that runs. `conversation` names the files below the home that the agent needs to go on with this
    conversation (`*` is part of one name, a last `**` everything below): alone of a home they are there again in the
    next turn that names them, with secrets taken out. What the agent has changed so far is told every `work_seconds`
    at most, and never where they are 0.
    """

    turn: str
    marker: str
    workdir: str
    argv: list[str]
    token: str = field(default="", repr=False)
    repository: TurnRepository | None = None
    env: dict[str, str] = field(default_factory=dict, repr=False)
    stdin: str = field(default="", repr=False)
    files: list[TurnFile] = field(default_factory=list, repr=False)
    evidence: list[Evidence] = field(default_factory=list)
    limits: TurnLimits = field(default_factory=TurnLimits)
    conversation: list[str] = field(default_factory=list)
    verification: Verification | None = None
    work_seconds: float = 0.0

    def __post_init__(self) -> None:
        if not TURN_PATTERN.fullmatch(self.turn):
            raise ProtocolError(f"turn id {self.turn!r}: only letters, digits, '-' and '_' may stand in it")
        if not MARKER_PATTERN.fullmatch(self.marker):
            raise ProtocolError(f"marker {self.marker!r}: only letters, digits, '-' and '_' may stand in it")
        if not self.argv:
            raise ProtocolError(f"turn {self.turn}: argv is empty")
        outside = next((each for each in self.conversation if {"", ".", ".."} & set(each.split("/"))), None)
        if outside is not None:
            raise ProtocolError(f"turn {self.turn}: conversation holds {outside!r}, which is not below the home")


@dataclass(frozen=True)
class FetchToken:
    """Where the service's git gateway has the turn's repository, and the login for it, which is the turn's own token.

    It is never in argv or in the agent's environment.
    """

    url: str
    token: str = field(repr=False)
    username: str = "x-access-token"


@dataclass(frozen=True)
class Output:
    """Bytes of the agent's stdout from `offset` on (base64), possibly none: then it only says that the runner lives."""

    offset: int
    data: str = ""
    end: bool = False
    state: str = RUNNING
    heartbeat: bool = True


@dataclass(frozen=True)
class OutputAnswer:
    """How much the service holds by now, and, when the turn is to be ended, why."""

    offset: int
    cancel: str | None = None


@dataclass(frozen=True)
class Change:
    """One path that differs from the base commit. A deleted one has no `sha`. A renamed one has the `old_path` it left:
    that path is gone, and has no entry of its own unless something new stands there.

    Under Git LFS `sha` is the blob of the pointer and `lfs` the one with the content, whose size is told; the pointer's
    own where the content was not downloaded."""

    path: str
    mode: str
    sha: str | None
    size: int = 0
    old_path: str | None = None
    binary: bool = False
    lfs: str | None = None


@dataclass(frozen=True)
class FileBack:
    """A `read_back` file that the agent changed, its content in base64."""

    path: str
    content: str = field(repr=False)


@dataclass(frozen=True)
class Usage:
    """What the agent and the children it waited for took: CPU seconds, and the largest resident set in bytes."""

    cpu_seconds: float = 0.0
    max_rss: int = 0


@dataclass(frozen=True)
class Result:
    """How a turn ended. Sent once all output is acknowledged and every blob that `changes` names is stored.

    `exit_code` is negative for a signal (-9), None when the agent did not start or nobody saw it end. `message` is a
    sentence for people, whenever `reason` is not `exited` or something was left out. `tree` is the tree object of the
    final working tree, None when there is none. `head` is the agent's own HEAD where it made commits. `output_bytes`
    is the length of the stream that `Output` offsets count; `swept` the number of processes that outlived the agent
    and were killed. `left_out` names what stands in the working tree and not in `tree`, each with its reason.
    """

    reason: str
    exit_code: int | None = None
    message: str = ""
    base: str | None = None
    tree: str | None = None
    head: str | None = None
    changes: list[Change] = field(default_factory=list)
    diff: str = field(default="", repr=False)
    files: list[FileBack] = field(default_factory=list, repr=False)
    stderr_tail: str = field(default="", repr=False)
    output_bytes: int = 0
    usage: Usage = field(default_factory=Usage)
    swept: int = 0
    left_out: list[str] = field(default_factory=list)
    trials: Trials = field(default_factory=Trials)


def to_json(message: Any) -> dict[str, Any]:
    """Any message above as what `json.dumps` takes."""
    return asdict(message)


_TYPES: dict[str, Any] = {
    "int": int, "int | None": int, "float": (int, float), "str": str, "str | None": str, "bool": bool,
    "list[str]": list, "dict[str, str]": dict,
}  # fmt: skip


def _pick(cls: Any, raw: Any, where: str, **made: Any) -> Any:
    """Build `cls` from the fields it knows; unknown ones are ignored, so that either side may be newer."""
    if not isinstance(raw, dict):
        raise ProtocolError(f"{where} is {type(raw).__name__}, not an object")
    known = {}
    for name, about in cls.__dataclass_fields__.items():
        value: Any = raw.get(name)
        if name in made or (value is None and "None" not in about.type):
            continue
        expected = _TYPES.get(about.type, object)
        fits = value is None or isinstance(value, expected)
        if fits and expected in (list, dict):
            fits = all(isinstance(part, str) for part in (value.values() if isinstance(value, dict) else list(value)))
        if not fits:
            raise ProtocolError(f"{where}.{name} is {value!r:.80}, not {about.type}")
        known[name] = value
    try:
        return cls(**known, **made)
    except TypeError as error:
        raise ProtocolError(f"{where}: {error}") from None


def _many(cls: Any, raw: Any, where: str) -> list[Any]:
    if not isinstance(raw, (list, type(None))):
        raise ProtocolError(f"{where} is {type(raw).__name__}, not a list")
    return [_pick(cls, item, f"{where}[{index}]") for index, item in enumerate(raw or [])]


def _read(reader: Any, raw: Any, where: str) -> Any:
    try:
        return reader(raw)
    except ValueError as error:
        raise ProtocolError(f"{where}: {error}") from None


def turn_from_json(raw: Any) -> AssignedTurn:
    """Read what `next` answered. Raises `ProtocolError`."""
    if not isinstance(raw, dict):
        raise ProtocolError(f"a turn is {type(raw).__name__}, not an object")
    repository = raw.get("repository")
    if repository is not None:
        merge = repository.get("merge") if isinstance(repository, dict) else None
        made = {"merge": _pick(Merge, merge, "repository.merge")} if merge else {}
        repository = _pick(TurnRepository, repository, "repository", **made)
    turn: AssignedTurn = _pick(
        AssignedTurn,
        raw,
        "turn",
        repository=repository,
        files=_many(TurnFile, raw.get("files"), "files"),
        evidence=_many(Evidence, raw.get("evidence"), "evidence"),
        limits=_pick(TurnLimits, raw.get("limits") or {}, "limits"),
        verification=_read(verification_from_json, raw.get("verification"), "verification"),
    )
    return turn


def token_from_json(raw: Any) -> FetchToken:
    """Read what `token` answered. Raises `ProtocolError`."""
    token: FetchToken = _pick(FetchToken, raw, "token")
    return token


def secrets_from_json(raw: Any) -> list[str]:
    """Read what `secrets` answered. Raises `ProtocolError`."""
    return _texts(raw, "secrets", "spellings")


def edited_from_json(raw: Any) -> list[str]:
    """Read what `edited` answered. Raises `ProtocolError`."""
    return _texts(raw, "edited", "paths")


def _texts(raw: Any, where: str, name: str) -> list[str]:
    found = raw.get(name) if isinstance(raw, dict) else None
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ProtocolError(f"{where}.{name} is no list of texts")
    return found


def output_from_json(raw: Any) -> Output:
    """Read what a runner posted as output. Raises `ProtocolError`."""
    output: Output = _pick(Output, raw, "output")
    if output.offset < 0:
        raise ProtocolError(f"output.offset is {output.offset}, less than 0")
    return output


def output_answer_from_json(raw: Any) -> OutputAnswer:
    """Read the answer to output. Raises `ProtocolError`."""
    answer: OutputAnswer = _pick(OutputAnswer, raw, "output answer")
    return answer


def result_from_json(raw: Any) -> Result:
    """Read what a runner put as result. Raises `ProtocolError`."""
    if not isinstance(raw, dict):
        raise ProtocolError(f"a result is {type(raw).__name__}, not an object")
    result: Result = _pick(
        Result,
        raw,
        "result",
        changes=_many(Change, raw.get("changes"), "changes"),
        files=_many(FileBack, raw.get("files"), "files"),
        usage=_pick(Usage, raw.get("usage") or {}, "usage"),
        trials=_read(trials_from_json, raw.get("trials"), "trials"),
    )
    return result


def encode(data: bytes) -> str:
    """Bytes as base64 text."""
    return base64.b64encode(data).decode("ascii")


def decode(text: str, where: str) -> bytes:
    """Base64 text as bytes. Raises `ProtocolError` that names `where`."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise ProtocolError(f"{where} is not base64: {error}") from None
