"""From payload structs, in which everything may be missing, to the plain values of `github.webhooks.outcomes`."""

from github.webhooks.events import Comment, Event, Issue, PullRequest, Review, User
from github.webhooks.outcomes import Actor, Repo, Source, Subject, Where


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


def text_source(where: Where, thing: Issue | PullRequest) -> Source:
    """The body of the issue or pull request as the asking text."""
    return Source(where, 0, thing.node_id or "", thing.html_url or "", thing.body or "")


def comment_source(where: Where, comment: Comment) -> Source:
    """A comment as the asking text."""
    return Source(
        where,
        comment.id or 0,
        comment.node_id or "",
        comment.html_url or "",
        comment.body or "",
        path=comment.path or "",
        line=comment.line or 0,
        diff_hunk=comment.diff_hunk or "",
        commit_id=comment.commit_id or "",
        review_id=comment.pull_request_review_id or 0,
        thread_id=(comment.in_reply_to_id or comment.id or 0) if where is Where.INLINE else 0,
        at=comment.updated_at or comment.created_at or "",
    )


def review_source(review: Review) -> Source:
    """A review's own text as the asking text."""
    return Source(
        Where.REVIEW,
        review.id or 0,
        review.node_id or "",
        review.html_url or "",
        review.body or "",
        commit_id=review.commit_id or "",
        review_id=review.id or 0,
        at=review.submitted_at or "",
    )
