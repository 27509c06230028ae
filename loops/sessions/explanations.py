"""The one catalogue of what each reason means: to who asked, what to do next, and to who runs the service. Pure.

Comment, check run, page, API, command line and `docs/reasons.md` all take their words from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from loops.runtimes.failures import WORDS
from loops.sessions.reasons import Reason


@dataclass(frozen=True)
class Explanation:
    """`title` is a few words for tables. `what` happened and what to do `next` are for whoever asked, with `{handle}`
    for our name; `operator` is for whoever runs the service, empty where it is not theirs.

    `public`: the detail behind the reason's colon may be shown to everybody; else it is the operator's.
    """

    title: str
    what: str
    next: str
    operator: str = ""
    public: bool = True


_ASK_OPERATOR = "Only whoever runs Greenloop can mend this: tell them. Then `{handle} retry`."

EXPLANATIONS: Mapping[str, Explanation] = {
    **{kind.value: Explanation(said.title, said.what, said.then, said.operator) for kind, said in WORDS.items()},
    Reason.CAP_REACHED: Explanation(
        "checks stay red",
        "All attempts are used up and checks are still red.",
        "A person has to look now. Mention me with a hint to go on: attempts are then counted anew.",
    ),
    Reason.NO_PROGRESS: Explanation(
        "no progress",
        "What fails did not change by the last attempts, so another one would not change it either.",
        "Mention me with a hint, or take over the branch.",
    ),
    Reason.BASE_RED: Explanation(
        "red on the base branch",
        "What is red was red on the base branch already: this work did not break it, and I leave it alone.",
        "Repair the base branch, or mention me and ask for it here.",
    ),
    Reason.AUTOFIX_OFF: Explanation(
        "repairs are off",
        "Checks are red, and repairs are switched off here.",
        "Comment `{handle} autofix on` and then `{handle} retry`, or take over the branch.",
    ),
    Reason.OTHERS_PUSHED: Explanation(
        "somebody else pushed",
        "Somebody else has pushed to the branch than who asked for the work, so its repair is not run in their name.",
        "Look at what was pushed, then `{handle} retry`: it is repaired in the box and on the account of who asks.",
        "With `autofix.after_others_push: installation`, the default, such repairs run on an account of the "
        "installation: `greenloop profile add` without `--person` adds one.",
    ),
    Reason.BOX_LOST: Explanation(
        "box lost",
        "The box in which the agent ran was lost twice.",
        "Try `{handle} retry`. If it happens again, tell whoever runs Greenloop.",
        "Look at the box's pod and its node: the log names both under `box.lost`.",
    ),
    Reason.BOX_FAILED: Explanation(
        "box does not start",
        "The agent's box does not come up.",
        _ASK_OPERATOR,
        "The note names what the cluster said: the image, the volume, a quota or an admission rule. `greenloop doctor` "
        "checks the rights.",
    ),
    Reason.PUSH_REFUSED: Explanation(
        "not published",
        "The work was not published. What stood against it is said below.",
        "Change what stands against it, then `{handle} retry`.",
    ),
    Reason.RULES: Explanation(
        "refused by rules",
        "The rules of this repository refuse what I push.",
        "Let the App bypass the rule, or exempt my branches from it, then `{handle} retry`.",
    ),
    Reason.CHECKS_NEVER_SETTLED: Explanation(
        "checks never ended",
        "The checks did not come to an end in the time that is set for it.",
        "See to it that they do (or leave them out with `checks.ignore`), and I go on by myself; or `{handle} retry`.",
    ),
    Reason.CHECKS_UNAPPROVED: Explanation(
        "checks not approved",
        "Checks wait for a person's approval on GitHub, and nobody has given it.",
        "Somebody with write access has to press *Approve workflows to run* at the pull request's checks, *Review "
        "deployments* on the page of a run that waits for an environment, or do what another system asks for on its "
        "check's page. Then I go on by myself.",
    ),
    Reason.CONFLICT: Explanation(
        "conflict with the base",
        "The pull request conflicts with its base branch, so GitHub starts no checks for it.",
        "Resolve the conflict, or mention me and ask for it.",
    ),
    Reason.HEAD_MOVED: Explanation(
        "fork moved",
        "The fork's pull request has commits that nobody has allowed me to work on.",
        "Look at them, then `{handle} retry`.",
    ),
    Reason.FORK_REFUSED: Explanation(
        "fork left alone",
        "This pull request comes from a fork, and its commits are not brought into this repository.",
        "Ask for the work on an issue, or do as is said below and then `{handle} retry`.",
    ),
    Reason.FORK_UNAPPROVED: Explanation(
        "fork not approved",
        "This pull request comes from a fork, and nobody has approved its commit: approving runs its code with this "
        "repository's secrets.",
        "Look at the commit that is named below, and approve it there if you trust all of it.",
    ),
    Reason.LIMIT_EXCEEDED: Explanation(
        "limit reached",
        "A limit was reached.",
        "Ask for less in one go, or raise it: `limits` in `.github/greenloop.yml`, as far as the service allows.",
        "The service's own limits are `GREENLOOP_` settings; each names its unit and default in `loops/options.py`.",
    ),
    Reason.FETCH_FAILED: Explanation(
        "fetch failed",
        "The repository could not be fetched into the box.",
        "Try `{handle} retry`. If it happens again, tell whoever runs Greenloop.",
        "A box does not reach GitHub's Git host: look at network policies and DNS; `doctor --network` tries it.",
    ),
    Reason.DISK_FULL: Explanation(
        "disk full",
        "The box has no disk space left.",
        "Ask for less in one go, or tell whoever runs Greenloop that boxes need more; then `{handle} retry`.",
        "Raise `boxes.pod.home.size` in the chart's values, or free the disk of the machine.",
    ),
    Reason.OUT_OF_MEMORY: Explanation(
        "out of memory",
        "The memory of the box ran out, and the agent was ended for it.",
        "Ask for less in one go, or for fewer things at once, or tell whoever runs Greenloop that boxes need more "
        "memory; then `{handle} retry`.",
        "Raise `boxes.pod.resources.limits.memory` in the chart's values.",
    ),
    Reason.EMPTY_REPOSITORY: Explanation(
        "no commit yet", "The repository has no commit yet.", "Push a first commit, then `{handle} retry`."
    ),
    Reason.NO_BASE: Explanation(
        "base branch missing", "The branch that was asked for is not there.", "Name another one with `--base`."
    ),
    Reason.NO_BRANCH: Explanation(
        "branch deleted", "The branch of this work was deleted.", "Restore it, or open another issue."
    ),
    Reason.ARCHIVED: Explanation(
        "archived", "The repository is archived.", "Unarchive it, then `{handle} retry`."
    ),
    Reason.NO_ACCESS: Explanation(
        "no write access", "Who asked may not write to this repository.", "Somebody who may has to ask."
    ),
    Reason.NO_TURN: Explanation(
        "nothing asked", "Nothing was asked here.", "Mention `{handle}` with what to do."
    ),
    Reason.CANCELLED: Explanation(
        "stopped", "It was stopped.", "`{handle} retry` begins it again."
    ),
    Reason.REPORT_FAILED: Explanation(
        "report lost",
        "The agent worked, and its box could not report what it changed.",
        "Try `{handle} retry`. If it happens again, tell whoever runs Greenloop.",
        "The box does not reach the service, or was refused: the runner's log says which answer it got.",
    ),
    Reason.SUSPENDED: Explanation(
        "App suspended",
        "The App is suspended for this account.",
        "An owner of the account has to unsuspend it in its settings; then `{handle} retry`.",
        public=False,
    ),
    Reason.PERMISSION_MISSING: Explanation(
        "permission missing",
        "GitHub does not let the App do this: it lacks a permission, or has one that nobody has accepted yet.",
        "An owner of the account has to accept the App's permissions in its settings; then `{handle} retry`.",
        "The log names the permission under `session.failed_step`; `greenloop doctor` compares what the App asks for.",
        public=False,
    ),
    Reason.GONE: Explanation(
        "not there any more",
        "What this work is about is not there any more, or the App may not see it.",
        "Restore it or give the App access to it, then `{handle} retry`.",
        "The log names the request under `session.failed_step`.",
        public=False,
    ),
    Reason.PUT_ASIDE: Explanation(
        "put aside",
        "Our own processes ended several times over a step of this work, so it is put aside and not tried again.",
        "Try `{handle} retry` later. If it happens again, tell whoever runs Greenloop.",
        "`greenloop doctor` names it among what was put aside; the log of the worker that ended says what it ended of.",
    ),
    Reason.INTERNAL: Explanation(
        "our fault",
        "Something of Greenloop or between it and GitHub went wrong, and it is not your fault. It is recorded.",
        "Try `{handle} retry` later. If it happens again, tell whoever runs Greenloop.",
        "The log has the whole error under `session.failed_step`, with this session's number.",
        public=False,
    ),
}  # fmt: skip


def explain(reason: str, handle: str = "greenloop") -> Explanation:
    """What a stored reason such as `limit_exceeded: wall clock` means; one of another version is ours."""
    found = EXPLANATIONS[code_of(reason)]
    name = f"@{handle}"
    return replace(found, what=found.what.replace("{handle}", name), next=found.next.replace("{handle}", name))


def code_of(reason: str) -> str:
    """The reason without its detail."""
    code = reason.partition(":")[0]
    return code if code in EXPLANATIONS else Reason.INTERNAL


def detail_of(reason: str) -> str:
    """What stands behind the colon where everybody may read it, such as the limit that was reached."""
    return reason.partition(":")[2].strip() if EXPLANATIONS[code_of(reason)].public else ""


def in_a_line(reason: str, handle: str = "greenloop") -> str:
    """What happened, with its public detail, as one sentence: for lists, tables and terminals."""
    detail = detail_of(reason)
    said = explain(reason, handle).what
    return f"{said[:-1]}: {detail}." if detail else said
