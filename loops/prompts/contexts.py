"""What a prompt is made of: one frozen dataclass per kind of turn. Texts are as they were at the trigger."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Text:
    """Words that somebody wrote on GitHub. `where` is shown ("comment 17"), `at` is ISO 8601."""

    author: str
    body: str
    where: str = ""
    at: str = ""


@dataclass(frozen=True)
class Guidance:
    """A file of guidance (`AGENTS.md`, `CLAUDE.md`), told by reference: its name in the repository, and where in the
    box its text of the base commit stands. `path` may hold a placeholder; `size` is in bytes."""

    name: str
    path: str
    size: int


@dataclass(frozen=True)
class Protection:
    """Files of which a change is refused, with all of its turn: `paths` are globs of the repository's settings, `freed`
    those that they free of what CI, forges, editors and tools obey by name (`obeyed`)."""

    obeyed: bool = True
    paths: tuple[str, ...] = ()
    freed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Description:
    """Where the agent writes what it did, and where the JSON Schema of that stands. Both may hold a placeholder."""

    path: str
    schema: str


@dataclass(frozen=True)
class BoxCheck:
    """What has to pass in the box. `setup`: it was set up for that. `excerpt` is of how round `round` - 1 of `rounds`
    failed, whose work stands in the checkout."""

    command: str
    setup: bool = False
    round: int = 1
    rounds: int = 1
    excerpt: str = ""


@dataclass(frozen=True)
class LeftWork:
    """The patch of a turn that was cut short, in the box but outside the checkout. `path` may hold a placeholder;
    `size` is in bytes. `why` it was cut short, in words; `files` are the first of the `count` in it."""

    path: str
    size: int
    why: str
    files: tuple[str, ...]
    count: int


@dataclass(frozen=True)
class TurnContext:
    """What every prompt says. `instruction` is the asker's own words and the only text here that is an order, beside
    the `rules` of the repository's settings.

    `summary` tells what went before, for a conversation that cannot be resumed. `env_file` is the path of a file with
    secrets for the tests, empty if there is none. `left_out`: what the turn before made and was not committed, each
    with its reason. `lfs`: some files stand in the checkout as pointers of Git LFS. `description`: the file in which
    the agent is to say what it did.
    """

    repository: str
    branch: str
    base_branch: str
    base_sha: str
    asker: str = ""
    instruction: str = ""
    guidance: tuple[Guidance, ...] = ()
    rules: str = ""
    protection: Protection = Protection()
    summary: str = ""
    read_only: bool = False
    env_file: str = ""
    left_out: tuple[str, ...] = ()
    lfs: bool = False
    description: Description | None = None
    left_work: LeftWork | None = None
    check: BoxCheck | None = None


@dataclass(frozen=True)
class IssuePrompt:
    """First turn on an issue."""

    kind: ClassVar[str] = "issue"
    turn: TurnContext
    number: int
    title: str
    body: Text
    discussion: tuple[Text, ...] = ()


@dataclass(frozen=True)
class PullRequestPrompt:
    """A mention on a pull request."""

    kind: ClassVar[str] = "pull"
    turn: TurnContext
    number: int
    title: str
    body: Text
    discussion: tuple[Text, ...] = ()


@dataclass(frozen=True)
class ReviewComment:
    """An inline comment of a review. `hunk` is the piece of diff it stands on."""

    author: str
    body: str
    path: str
    line: int | None = None
    hunk: str = ""


@dataclass(frozen=True)
class ReviewPrompt:
    """Feedback of a reviewer on a pull request. `state` is GitHub's: `changes_requested`, `commented`."""

    kind: ClassVar[str] = "review"
    turn: TurnContext
    number: int
    title: str
    review: Text
    state: str = "changes_requested"
    comments: tuple[ReviewComment, ...] = ()


@dataclass(frozen=True)
class LogFile:
    """A whole log, in the box but outside the checkout. `path` may hold a placeholder; `size` is in bytes."""

    path: str
    size: int


@dataclass(frozen=True)
class FailedCheck:
    """A red check and what is left of it. `evidence` is distilled, untrusted text, and so are the `command` that failed
    and its `step`, as the log tells them; empty where it does not.
    """

    name: str
    conclusion: str
    evidence: str
    url: str = ""
    logs: tuple[LogFile, ...] = ()
    command: str = ""
    step: str = ""
    exit_code: int | None = None


@dataclass(frozen=True)
class ChecksPrompt:
    """Checks went red on `sha`. `attempt` counts from 1 up to `cap`; `earlier` says in a line each what was tried
    before, and what was red after it.

    `queued`: they did so where a merge queue merged `sha` with its base.
    """

    kind: ClassVar[str] = "checks"
    turn: TurnContext
    sha: str
    checks: tuple[FailedCheck, ...]
    attempt: int = 1
    cap: int = 3
    number: int | None = None
    earlier: tuple[str, ...] = ()
    not_ours: tuple[str, ...] = ()
    queued: bool = False


@dataclass(frozen=True)
class ConflictPrompt:
    """`theirs` was merged into the branch and left conflicts in `files`. `commits`: the other side, a line each."""

    kind: ClassVar[str] = "conflict"
    turn: TurnContext
    theirs: str
    files: tuple[str, ...]
    commits: tuple[str, ...] = ()


Prompt = IssuePrompt | PullRequestPrompt | ReviewPrompt | ChecksPrompt | ConflictPrompt
