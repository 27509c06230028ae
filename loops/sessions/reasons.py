"""Why a session ended without success, and what a person can do about it. Pure."""

WHY = {
    "cap_reached": (
        "All attempts are used up and checks are still red.",
        "A person has to look now. Mention me with a hint to go on: attempts are then counted anew.",
    ),
    "no_progress": (
        "What fails did not change by the last attempts, so another one would not change it either.",
        "Mention me with a hint, or take over the branch.",
    ),
    "base_red": (
        "What is red was red on the base branch already: this work did not break it, and I leave it alone.",
        "Repair the base branch, or mention me and ask for it here.",
    ),
    "autofix_off": (
        "Checks are red, and repairs are switched off here.",
        "Comment `{handle} autofix on` and then `{handle} retry`, or take over the branch.",
    ),
    "box_lost": (
        "The box in which the agent ran was lost twice.",
        "Try `{handle} retry`. If it happens again, whoever runs Greenloop has to look at the boxes.",
    ),
    "box_failed": (
        "The agent's box does not come up.",
        "Whoever runs Greenloop has to mend what is said below; then `{handle} retry`.",
    ),
    "push_refused": (
        "The work was not published. What stood against it is said below.",
        "Change what stands against it, then `{handle} retry`.",
    ),
    "rules": (
        "The rules of this repository would refuse what I push, so no agent was started.",
        "Let the App bypass the rule, or exempt my branches from it, then `{handle} retry`.",
    ),
    "credentials": (
        "The agent has no working account with its provider.",
        "Mend the account with `greenloop profile`, or name another `--runtime`, then `{handle} retry`.",
    ),
    "checks_never_settled": (
        "The checks did not come to an end in the time that is set for it.",
        "See to it that they do (or leave them out with `checks.ignore`), then `{handle} retry`.",
    ),
    "conflict": (
        "The pull request conflicts with its base branch, so GitHub starts no checks for it.",
        "Resolve the conflict, or mention me and ask for it.",
    ),
    "head_moved": (
        "The fork's pull request has commits that nobody has allowed me to work on.",
        "Look at them, then `{handle} retry`.",
    ),
    "fork_refused": (
        "This pull request comes from a fork, and its commits are not brought into this repository.",
        "Ask for the work on an issue, or do as is said below and then `{handle} retry`.",
    ),
    "limit_exceeded": ("A limit was reached.", "Raise it, or ask for less in one go."),
    "agent_failed": ("The agent itself failed.", "Its last words are below. `{handle} retry` tries once more."),
    "fetch_failed": (
        "The repository could not be fetched into the box.",
        "Try `{handle} retry`. If it happens again, whoever runs Greenloop has to look at its network.",
    ),
    "disk_full": ("The box has no disk space left.", "Whoever runs Greenloop has to give boxes more."),
    "empty_repository": ("The repository has no commit yet.", "Push a first commit, then `{handle} retry`."),
    "no_base": ("The branch that was asked for is not there.", "Name another one with `--base`."),
    "no_branch": ("The branch of this work was deleted.", "Restore it, or open another issue."),
    "archived": ("The repository is archived.", "Unarchive it, then `{handle} retry`."),
    "no_access": ("Who asked may not write to this repository.", "Somebody who may has to ask."),
}  # fmt: skip

OURS = (
    "Something between Greenloop and GitHub went wrong, and it is not your fault. It is recorded.",
    "Try `{handle} retry` later. If it happens again, tell whoever runs Greenloop.",
)


def why(reason: str, handle: str) -> tuple[str, str]:
    """(what happened, what to do) for a reason such as `limit_exceeded: wall clock`."""
    what, then = WHY.get(reason.partition(":")[0], OURS)
    return what, then.replace("{handle}", f"@{handle}")
