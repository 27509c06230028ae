"""Events about checks. They are only hints to ask GitHub for the whole state; our own check's buttons are requests."""

import re
from collections.abc import Iterable

from github.webhooks.commands import Command, Retry, of_button
from github.webhooks.events import App, Event, PullRequest
from github.webhooks.identity import Me
from github.webhooks.outcomes import Declined, Hint, Ignored, Outcome, Repo, Request, Why
from github.webhooks.sources import CheckButton
from github.webhooks.subjects import actor_of

_QUEUE = "gh-readonly-queue/"
# https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/merging-a-pull-request-with-a-merge-queue
_QUEUED = re.compile(r"gh-readonly-queue/.+/pr-(\d+)-[0-9a-f]{40,64}")
FAILED = frozenset({"failure", "error", "timed_out", "startup_failure"})


def check_run(event: Event, repo: Repo, me: Me) -> Outcome:
    """`check_run`: a hint, or a button or re-run of our own check."""
    run = event.check_run
    if run is None:
        return Ignored("check_run event without a check run")
    suite = run.check_suite
    sha = run.head_sha or (suite.head_sha if suite else None) or ""
    if _ours(run.app, me):
        if event.action == "requested_action":
            button = (event.requested_action.identifier if event.requested_action else None) or ""
            command = of_button(button, sha)
            if command is None:
                return Ignored(f"there is no button {button!r}")
            return _pressed(event, repo, me, Why.BUTTON, command, CheckButton(run.id or 0, sha, run.external_id or ""))
        if event.action == "rerequested":
            return _pressed(event, repo, me, Why.RERUN, Retry(), CheckButton(run.id or 0, sha, run.external_id or ""))
        return Ignored("our own check")
    if event.action != "completed":
        return Ignored(f"check_run.{event.action} of another app")
    branch = suite.head_branch if suite else None
    return _hint(repo, sha, "check_run", branch, run.pull_requests, conclusion=run.conclusion)


def check_suite(event: Event, repo: Repo, me: Me) -> Outcome:
    """`check_suite`: a hint, or "Re-run all checks" on our own suite."""
    suite = event.check_suite
    if suite is None:
        return Ignored("check_suite event without a check suite")
    if _ours(suite.app, me):
        if event.action == "rerequested":
            return _pressed(event, repo, me, Why.RERUN, Retry(), CheckButton(0, suite.head_sha or ""))
        return Ignored("our own check suite")
    if event.action != "completed":
        return Ignored(f"check_suite.{event.action} of another app")
    branch = suite.head_branch
    return _hint(repo, suite.head_sha or "", "check_suite", branch, suite.pull_requests, conclusion=suite.conclusion)


def workflow_run(event: Event, repo: Repo, me: Me) -> Outcome:
    """`workflow_run.completed`: a hint that names the run and its attempt."""
    run = event.workflow_run
    if run is None:
        return Ignored("workflow_run event without a run")
    if event.action != "completed":
        return Ignored(f"workflow_run.{event.action} ends nothing")
    return _hint(
        repo,
        run.head_sha or "",
        "workflow_run",
        run.head_branch,
        run.pull_requests,
        run.id or 0,
        run.run_attempt or 0,
        conclusion=run.conclusion,
    )


def status(event: Event, repo: Repo, me: Me) -> Outcome:
    """`status`: a hint. It lists up to ten branches; the default branch or the only one is named."""
    names = [branch.name for branch in event.branches or () if branch and branch.name]
    name = repo.default_branch if repo.default_branch in names else names[0] if len(names) == 1 else ""
    return _hint(repo, event.sha or "", "status", name, None, conclusion=event.state)


def _hint(
    repo: Repo,
    sha: str,
    source: str,
    branch: str | None,
    pulls: Iterable[PullRequest | None] | None,
    run_id: int = 0,
    run_attempt: int = 0,
    conclusion: str | None = None,
) -> Outcome:
    if not sha:
        return Ignored(f"{source} without a commit")
    failed = (conclusion or "") in FAILED
    name = (branch or "").removeprefix("refs/heads/")
    queued = _QUEUED.fullmatch(name)
    if name.startswith(_QUEUE) and not (queued and failed):
        return Ignored("a merge queue's own branch")
    number = int(queued[1]) if queued else 0
    return Hint(repo, sha, source, branch or "", _numbers(pulls, repo), run_id, run_attempt, failed, number)


def _numbers(pulls: Iterable[PullRequest | None] | None, repo: Repo) -> tuple[int, ...]:
    """The pull requests of this repository: GitHub also lists those whose base is another one."""
    numbers = []
    for pull in pulls or ():
        base = pull.base.repo if pull and pull.base else None
        if pull and pull.number and (base is None or base.id == repo.id):
            numbers.append(pull.number)
    return tuple(numbers)


def _ours(app: App | None, me: Me) -> bool:
    return app is not None and app.id is not None and app.id == me.app_id


def _pressed(event: Event, repo: Repo, me: Me, why: Why, command: Command, source: CheckButton) -> Outcome:
    actor = actor_of(event.sender)
    if actor is None or not source.sha:
        return Ignored("a button without a person or a commit")
    if me.is_me(actor):
        return Ignored("our own act")
    if not me.may_ask(actor):
        return Declined(f"{actor.login} is a bot that is not on the allow-list", repo, actor, source)
    return Request(why, repo, actor, source, command)
