"""From an event to what it means: a request, a hint, news, a refusal, or nothing. Pure; no I/O.

Authority is not decided here: that takes the permission API (`github.apps.access`).
"""

from collections.abc import Callable

from github.webhooks.commands import Command, Retry, Run
from github.webhooks.events import Event, Issue, PullRequest
from github.webhooks.hints import check_run, check_suite, status, workflow_run
from github.webhooks.identity import Me
from github.webhooks.lifecycle_events import installation, installation_repositories, push, repository
from github.webhooks.mentions import read
from github.webhooks.outcomes import (
    Change,
    Declined,
    Ignored,
    LifecycleEvent,
    Outcome,
    Repo,
    Request,
    Subject,
    Why,
)
from github.webhooks.sources import Source, Where
from github.webhooks.subjects import (
    actor_of,
    inline_comment,
    issue_subject,
    own_text,
    pull_subject,
    repo_of,
    review_body,
    thread_comment,
)


def decide(event: Event, me: Me) -> Outcome:
    """What `event` means to the App `me`."""
    if event.name in _WITHOUT_REPOSITORY:
        return _WITHOUT_REPOSITORY[event.name](event)
    rule = _RULES.get(event.name)
    if rule is None:
        return Ignored(f"no rule for {event.name}")
    repo = repo_of(event)
    if repo is None:
        return Ignored(f"{event.name} without a repository")
    return rule(event, repo, me)


def _issues(event: Event, repo: Repo, me: Me) -> Outcome:
    issue = event.issue
    if issue is None or issue.number is None:
        return Ignored("issues event without an issue")
    subject = issue_subject(issue)
    source = own_text(Where.PULL if subject.is_pull else Where.ISSUE, issue)
    changes = {
        "closed": Change.ISSUE_CLOSED,
        "deleted": Change.ISSUE_DELETED,
        "transferred": Change.ISSUE_TRANSFERRED,
    }
    if event.action in changes:
        return LifecycleEvent(
            changes[event.action], repo.installation_id, repo, actor_of(event.sender), subject=subject
        )
    return _opened_or_marked(event, repo, me, subject, source, issue)


def _pull_request(event: Event, repo: Repo, me: Me) -> Outcome:
    pull = event.pull_request
    if pull is None or pull.number is None:
        return Ignored("pull_request event without a pull request")
    subject = pull_subject(pull)
    actor = actor_of(event.sender)
    if event.action == "closed":
        change = Change.PULL_MERGED if pull.merged else Change.PULL_CLOSED
        return LifecycleEvent(change, repo.installation_id, repo, actor, subject=subject)
    if event.action == "synchronize":
        if me.is_me(actor):
            return Ignored("our own push")
        return LifecycleEvent(
            Change.BRANCH_MOVED,
            repo.installation_id,
            repo,
            actor,
            subject=subject,
            branch=subject.head_ref if subject.head_repository_id == repo.id else "",
            before=event.before or "",
            after=event.after or subject.head_sha,
        )
    outcome = _opened_or_marked(event, repo, me, subject, own_text(Where.PULL, pull), pull)
    if event.action == "ready_for_review" and me.is_me(actor):
        return Ignored("our own act")
    if isinstance(outcome, Ignored) and event.action in _OPEN:
        return LifecycleEvent(_OPEN[event.action], repo.installation_id, repo, actor, subject=subject)
    return outcome


def _opened_or_marked(
    event: Event, repo: Repo, me: Me, subject: Subject, source: Source, thing: Issue | PullRequest
) -> Outcome:
    if event.action == "assigned":
        if not me.is_me(actor_of(event.assignee)):
            return Ignored("assigned to somebody else")
        return _request(event, repo, me, subject, source, Why.ASSIGNED, Run(), closed=_closed(thing))
    if event.action == "labeled":
        name = (event.label.name if event.label else None) or ""
        if not name:
            return Ignored("a label without a name")
        return _request(event, repo, me, subject, source, Why.LABELED, Run(), closed=_closed(thing), label=name)
    if event.action not in ("opened", "edited"):
        return Ignored(f"{event.name}.{event.action} asks for nothing")
    command = read(thing.body, me.names) or read(thing.title, me.names)
    if command is None:
        return Ignored("no mention")
    if event.action == "edited" and not _edit_adds_mention(event, me, thing.title, thing.body):
        return Ignored("the edit did not add the mention")
    return _request(event, repo, me, subject, source, Why.MENTION, command, closed=_closed(thing))


def _issue_comment(event: Event, repo: Repo, me: Me) -> Outcome:
    if event.issue is None or event.issue.number is None or event.comment is None:
        return Ignored("issue_comment event without an issue or a comment")
    return _comment(event, repo, me, issue_subject(event.issue), thread_comment(event.comment), event.issue)


def _inline_comment(event: Event, repo: Repo, me: Me) -> Outcome:
    if event.pull_request is None or event.pull_request.number is None or event.comment is None:
        return Ignored("review comment event without a pull request or a comment")
    source = inline_comment(event.comment, edited=event.action == "edited")
    return _comment(event, repo, me, pull_subject(event.pull_request), source, event.pull_request)


def _comment(event: Event, repo: Repo, me: Me, subject: Subject, source: Source, thing: Issue | PullRequest) -> Outcome:
    if event.action == "deleted":
        return LifecycleEvent(
            Change.COMMENT_DELETED, repo.installation_id, repo, actor_of(event.sender), subject=subject, source=source
        )
    if event.action not in ("created", "edited"):
        return Ignored(f"{event.name}.{event.action} asks for nothing")
    through = event.comment.performed_via_github_app if event.comment else None
    if through is not None and through.id == me.app_id:
        return Ignored("our own comment")
    command = read(source.text, me.names)
    if command is None:
        return Ignored("no mention")
    if event.action == "edited" and not _edit_adds_mention(event, me, None, source.text):
        return Ignored("the edit did not add the mention")
    return _request(event, repo, me, subject, source, Why.MENTION, command, closed=_closed(thing))


def _review(event: Event, repo: Repo, me: Me) -> Outcome:
    pull, review = event.pull_request, event.review
    if pull is None or pull.number is None or review is None:
        return Ignored("review event without a pull request or a review")
    if event.action not in ("submitted", "edited"):
        return Ignored(f"{event.name}.{event.action} asks for nothing")
    subject, source = pull_subject(pull), review_body(review)
    command = read(review.body, me.names)
    if command is not None:
        if event.action == "edited" and not _edit_adds_mention(event, me, None, review.body):
            return Ignored("the edit did not add the mention")
        return _request(event, repo, me, subject, source, Why.MENTION, command, closed=_closed(pull))
    if event.action != "submitted" or (review.state or "").lower() != "changes_requested":
        return Ignored("a review without a mention that requests no changes")
    if not me.is_me(subject.author):
        return Ignored("changes requested on a pull request that is not ours")
    asked = Run((review.body or "").strip())
    return _request(event, repo, me, subject, source, Why.CHANGES_REQUESTED, asked, closed=_closed(pull))


def _request(
    event: Event,
    repo: Repo,
    me: Me,
    subject: Subject,
    source: Source,
    why: Why,
    command: Command,
    *,
    closed: str,
    label: str = "",
) -> Outcome:
    actor = actor_of(event.sender)
    if actor is None:
        return Ignored("nobody is behind it: the account is deleted")
    if me.is_me(actor):
        return Ignored("our own act")
    if not me.may_ask(actor):
        return Declined(
            f"{actor.login} is a bot that is not on the allow-list", repo, actor, source, subject, label=label
        )
    if closed and isinstance(command, Run | Retry):
        answer = f"Pull request #{subject.number} is {closed}, so there is no branch to work on. "
        answer += "Reopen it, or open an issue and mention me there."
        return Declined(f"the pull request is {closed}", repo, actor, source, subject, answer, label)
    return Request(why, repo, actor, source, command, subject, label)


def _closed(thing: Issue | PullRequest) -> str:
    """ "merged" or "closed" for a pull request that is; "" for an open one and for every issue."""
    if isinstance(thing, Issue):
        if thing.pull_request is None or thing.state != "closed":
            return ""
        return "merged" if thing.pull_request.merged_at else "closed"
    if thing.merged or thing.merged_at:
        return "merged"
    return "closed" if thing.state == "closed" else ""


def _edit_adds_mention(event: Event, me: Me, title: str | None, body: str | None) -> bool:
    """Whether the text before the edit did not address us. An edit that says nothing of the text adds nothing."""
    changes = event.changes
    if changes is None or (changes.body is None and changes.title is None):
        return False
    old_body = changes.body.value if changes.body else body
    old_title = changes.title.value if changes.title else title
    return read(old_body, me.names) is None and read(old_title, me.names) is None


_OPEN = {
    "opened": Change.PULL_OPENED,
    "reopened": Change.PULL_REOPENED,
    "ready_for_review": Change.PULL_READY,
}
_WITHOUT_REPOSITORY: dict[str, Callable[[Event], Outcome]] = {
    "installation": installation,
    "installation_repositories": installation_repositories,
}

_RULES: dict[str, Callable[[Event, Repo, Me], Outcome]] = {
    "issues": _issues,
    "pull_request": _pull_request,
    "issue_comment": _issue_comment,
    "pull_request_review": _review,
    "pull_request_review_comment": _inline_comment,
    "check_run": check_run,
    "check_suite": check_suite,
    "workflow_run": workflow_run,
    "status": status,
    "push": push,
    "repository": repository,
}
