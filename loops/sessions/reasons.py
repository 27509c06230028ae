"""Why a session ended without success, and what a person can do about it. Pure."""

from collections.abc import Mapping
from enum import StrEnum

from loops.runtimes.failures import WORDS


class Outcome(StrEnum):
    """How a session ended that completed."""

    GREEN = "green"
    NO_CHECKS = "no_checks"
    NO_CHANGES = "no_changes"
    ANSWERED = "answered"


class Reason(StrEnum):
    """Why a session ended without success, or a turn did; stored with a colon and a detail where there is one.

    The failures of agents are reasons, too: `loops.runtimes.failures.FailureKind`.
    """

    CAP_REACHED = "cap_reached"
    NO_PROGRESS = "no_progress"
    BASE_RED = "base_red"
    AUTOFIX_OFF = "autofix_off"
    BOX_LOST = "box_lost"
    BOX_FAILED = "box_failed"
    PUSH_REFUSED = "push_refused"
    RULES = "rules"
    CREDENTIALS = "credentials"
    CHECKS_NEVER_SETTLED = "checks_never_settled"
    CONFLICT = "conflict"
    HEAD_MOVED = "head_moved"
    FORK_REFUSED = "fork_refused"
    LIMIT_EXCEEDED = "limit_exceeded"
    AGENT_FAILED = "agent_failed"
    FETCH_FAILED = "fetch_failed"
    DISK_FULL = "disk_full"
    EMPTY_REPOSITORY = "empty_repository"
    NO_BASE = "no_base"
    NO_BRANCH = "no_branch"
    ARCHIVED = "archived"
    NO_ACCESS = "no_access"
    NO_TURN = "no_turn"


WHY: Mapping[str, tuple[str, str]] = {
    **{kind.value: (words.what, words.then) for kind, words in WORDS.items()},
    Reason.CAP_REACHED: (
        "All attempts are used up and checks are still red.",
        "A person has to look now. Mention me with a hint to go on: attempts are then counted anew.",
    ),
    Reason.NO_PROGRESS: (
        "What fails did not change by the last attempts, so another one would not change it either.",
        "Mention me with a hint, or take over the branch.",
    ),
    Reason.BASE_RED: (
        "What is red was red on the base branch already: this work did not break it, and I leave it alone.",
        "Repair the base branch, or mention me and ask for it here.",
    ),
    Reason.AUTOFIX_OFF: (
        "Checks are red, and repairs are switched off here.",
        "Comment `{handle} autofix on` and then `{handle} retry`, or take over the branch.",
    ),
    Reason.BOX_LOST: (
        "The box in which the agent ran was lost twice.",
        "Try `{handle} retry`. If it happens again, whoever runs Greenloop has to look at the boxes.",
    ),
    Reason.BOX_FAILED: (
        "The agent's box does not come up.",
        "Whoever runs Greenloop has to mend what is said below; then `{handle} retry`.",
    ),
    Reason.PUSH_REFUSED: (
        "The work was not published. What stood against it is said below.",
        "Change what stands against it, then `{handle} retry`.",
    ),
    Reason.RULES: (
        "The rules of this repository would refuse what I push, so no agent was started.",
        "Let the App bypass the rule, or exempt my branches from it, then `{handle} retry`.",
    ),
    Reason.CHECKS_NEVER_SETTLED: (
        "The checks did not come to an end in the time that is set for it.",
        "See to it that they do (or leave them out with `checks.ignore`), then `{handle} retry`.",
    ),
    Reason.CONFLICT: (
        "The pull request conflicts with its base branch, so GitHub starts no checks for it.",
        "Resolve the conflict, or mention me and ask for it.",
    ),
    Reason.HEAD_MOVED: (
        "The fork's pull request has commits that nobody has allowed me to work on.",
        "Look at them, then `{handle} retry`.",
    ),
    Reason.FORK_REFUSED: (
        "This pull request comes from a fork, and its commits are not brought into this repository.",
        "Ask for the work on an issue, or do as is said below and then `{handle} retry`.",
    ),
    Reason.LIMIT_EXCEEDED: ("A limit was reached.", "Raise it, or ask for less in one go."),
    Reason.FETCH_FAILED: (
        "The repository could not be fetched into the box.",
        "Try `{handle} retry`. If it happens again, whoever runs Greenloop has to look at its network.",
    ),
    Reason.DISK_FULL: ("The box has no disk space left.", "Whoever runs Greenloop has to give boxes more."),
    Reason.EMPTY_REPOSITORY: ("The repository has no commit yet.", "Push a first commit, then `{handle} retry`."),
    Reason.NO_BASE: ("The branch that was asked for is not there.", "Name another one with `--base`."),
    Reason.NO_BRANCH: ("The branch of this work was deleted.", "Restore it, or open another issue."),
    Reason.ARCHIVED: ("The repository is archived.", "Unarchive it, then `{handle} retry`."),
    Reason.NO_ACCESS: ("Who asked may not write to this repository.", "Somebody who may has to ask."),
}  # fmt: skip

OURS = (
    "Something between Greenloop and GitHub went wrong, and it is not your fault. It is recorded.",
    "Try `{handle} retry` later. If it happens again, tell whoever runs Greenloop.",
)


def why(reason: str, handle: str) -> tuple[str, str]:
    """(what happened, what to do) for a reason such as `limit_exceeded: wall clock`."""
    what, then = WHY.get(reason.partition(":")[0], OURS)
    return what, then.replace("{handle}", f"@{handle}")
