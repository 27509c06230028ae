"""From payload structs, in which everything may be missing, to the plain values of `github.webhooks.outcomes`."""

from github.webhooks.events import Comment, Event, Issue, PullRequest, Review, User
from github.webhooks.outcomes import Actor, Repo, Subject
from github.webhooks.sources import InlineComment, OwnText, ReviewBody, ThreadComment, Where


def actor_of(user: User | None) -> Actor | None:
    """The person or bot, or None for a deleted one."""
    if user is None or not user.login:
        return None
    return Actor(user.id or 0, user.login, user.type == "Bot" or user.login.endswith("[bot]"))


def repo_of(event: Event) -> Repo | None:
    """The repository of the event, or None if it has none."""
    repository = event.repository
    if repository is None or repository.id is None:
        return None
    return Repo(
        repository.id,
        repository.full_name or "",
        (event.installation.id if event.installation else None) or 0,
        repository.default_branch or "",
    )


def issue_subject(issue: Issue) -> Subject:
    """The issue, or the pull request that it is in the issues API (then without its head)."""
    return Subject(
        issue.number or 0, issue.pull_request is not None, issue.title or "", issue.body or "", actor_of(issue.user)
    )


def pull_subject(pull: PullRequest) -> Subject:
    """The pull request with its head and base as the event shows them."""
    head, base = pull.head, pull.base
    return Subject(
        number=pull.number or 0,
        is_pull=True,
        title=pull.title or "",
        body=pull.body or "",
        author=actor_of(pull.user),
        head_ref=(head.ref if head else None) or "",
        head_sha=(head.sha if head else None) or "",
        head_repository_id=(head.repo.id if head and head.repo else None) or 0,
        base_ref=(base.ref if base else None) or "",
    )


def own_text(where: Where, thing: Issue | PullRequest) -> OwnText:
    """The body of the issue or pull request as the asking text."""
    return OwnText(where, thing.node_id or "", thing.html_url or "", thing.body or "", thing.updated_at or "")


def thread_comment(comment: Comment) -> ThreadComment:
    """A comment on an issue or pull request as the asking text."""
    return ThreadComment(
        comment.id or 0,
        comment.node_id or "",
        comment.html_url or "",
        comment.body or "",
        at=comment.updated_at or comment.created_at or "",
    )


def inline_comment(comment: Comment, *, edited: bool) -> InlineComment:
    """A comment on a line of a diff as the asking text; `edited`: it asks since an edit."""
    return InlineComment(
        comment.id or 0,
        comment.node_id or "",
        comment.html_url or "",
        comment.body or "",
        at=comment.updated_at or comment.created_at or "",
        path=comment.path or "",
        line=comment.line or 0,
        diff_hunk=comment.diff_hunk or "",
        review_id=comment.pull_request_review_id or 0,
        thread_id=comment.in_reply_to_id or comment.id or 0,
        edited=edited,
    )


def review_body(review: Review) -> ReviewBody:
    """A review's own text as the asking text."""
    return ReviewBody(
        review.id or 0,
        review.node_id or "",
        review.html_url or "",
        review.body or "",
        at=review.submitted_at or "",
    )
