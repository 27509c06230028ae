"""What is asked of a turn, made once where a request comes in. Pure values; `ask_columns` stores them."""

from dataclasses import dataclass
from typing import Any

from github.webhooks.mention_options import MentionOptions
from github.webhooks.sources import Source
from loops.store.states import Origin, Trigger, TurnKind


@dataclass(frozen=True)
class Asker:
    """Who asks. `id` is GitHub's; None: red checks, or a call in nobody's name."""

    id: int | None = None
    login: str = ""


@dataclass(frozen=True)
class TurnOptions(MentionOptions):
    """What was chosen with a request, for its turn and the repairs of that. `steps` are the most the model may take."""

    steps: int | None = None


@dataclass(frozen=True)
class ThreadText:
    """The issue or pull request as it was at the time; `number` is 0 for a call, which has none."""

    number: int = 0
    title: str = ""
    body: str = ""
    author: str = ""
    is_pull: bool = False


@dataclass(frozen=True)
class Remark:
    """An inline comment of a review. `asks`: it addresses us, so that its thread gets an answer."""

    id: int
    thread_id: int
    path: str
    line: int
    body: str
    diff_hunk: str
    author: str
    asks: bool = False


@dataclass(frozen=True)
class ReviewText:
    """A review with all of its remarks in the order of the files, or one remark that asks alone (`review_id` 0)."""

    review_id: int
    number: int
    title: str
    review: str
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class RedChecks:
    """A commit whose checks are red; `checks` as the prompt shows them, `logs` the names of stored logs.

    `queued`: they are red only where a merge queue merged it with its base.
    """

    sha: str
    attempt: int
    title: str
    checks: tuple[dict[str, Any], ...] = ()
    logs: tuple[str, ...] = ()
    not_ours: tuple[str, ...] = ()
    queued: bool = False


@dataclass(frozen=True)
class Conflict:
    """Our commit and somebody else's, which do not merge."""

    ours: str
    theirs: str
    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()


About = ThreadText | ReviewText | RedChecks | Conflict


@dataclass(frozen=True)
class Ask:
    """What somebody, or a red check, wants done in a conversation.

    `source` is where this request stands (None: in no text on GitHub), `about` what the work is about: a retry stands
    in its own comment and is about what the task that it repeats was about.
    """

    trigger: Trigger
    asker: Asker
    about: About
    instruction: str = ""
    source: Source | None = None
    options: TurnOptions = TurnOptions()
    origin: Origin = Origin.GITHUB
    delivery: str | None = None

    @property
    def kind(self) -> TurnKind:
        """Which prompt the turn gets."""
        match self.about:
            case RedChecks():
                return TurnKind.CHECKS
            case Conflict():
                return TurnKind.CONFLICT
            case ReviewText():
                return TurnKind.REVIEW
            case ThreadText(is_pull=is_pull):
                return TurnKind.PULL if is_pull else TurnKind.ISSUE

    @property
    def shown_asker(self) -> str:
        """Who, or what, started the turn, for people."""
        return asked_by(self.trigger, self.asker.login)


def asked_by(trigger: Trigger, login: str) -> str:
    """Who, or what, started a turn, for people."""
    if trigger is Trigger.CHECKS:
        return "red checks"
    return f"{login or 'Greenloop'} ({trigger.value.replace('_', ' ')})"
