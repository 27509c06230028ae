"""How a session ends. What each reason means to people is in `loops.sessions.explanations`."""

from enum import StrEnum


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
    OTHERS_PUSHED = "others_pushed"
    BOX_LOST = "box_lost"
    BOX_FAILED = "box_failed"
    PUSH_REFUSED = "push_refused"
    RULES = "rules"
    CREDENTIALS = "credentials"
    CHECKS_NEVER_SETTLED = "checks_never_settled"
    CHECKS_UNAPPROVED = "checks_unapproved"
    CONFLICT = "conflict"
    HEAD_MOVED = "head_moved"
    FORK_REFUSED = "fork_refused"
    FORK_UNAPPROVED = "fork_unapproved"
    LIMIT_EXCEEDED = "limit_exceeded"
    AGENT_FAILED = "agent_failed"
    FETCH_FAILED = "fetch_failed"
    DISK_FULL = "disk_full"
    OUT_OF_MEMORY = "out_of_memory"
    EMPTY_REPOSITORY = "empty_repository"
    NO_BASE = "no_base"
    NO_BRANCH = "no_branch"
    ARCHIVED = "archived"
    NO_ACCESS = "no_access"
    NO_TURN = "no_turn"
    CANCELLED = "cancelled"
    REPORT_FAILED = "report_failed"
    SUSPENDED = "suspended"
    PERMISSION_MISSING = "permission_missing"
    GONE = "gone"
    PUT_ASIDE = "put_aside"
    INTERNAL = "internal"
