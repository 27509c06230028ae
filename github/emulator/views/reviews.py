"""Reviews and comments on lines."""

from typing import Any

from github.emulator.clock import iso, iso_or_none
from github.emulator.store.reviews import Review, ReviewComment
from github.emulator.store.store import Store
from github.emulator.store.table import node_id
from github.emulator.views import issues, repositories, users

Json = dict[str, Any]


def review(store: Store, row: Review) -> Json:
    """`pull-request-review`; its state is in capitals here."""
    pull = row.pull
    url = f"{repositories.url(store, pull.repository)}/pulls/{pull.number}"
    page = f"{issues.html_url(store, pull.issue)}#pullrequestreview-{row.id}"
    body: Json = {
        "id": row.id,
        "node_id": node_id("PRR", row.id),
        "user": users.simple_or_none(store, row.user),
        "body": row.body,
        "state": row.state,
        "html_url": page,
        "pull_request_url": url,
        "author_association": issues.association(store, pull.repository, row.user),
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "commit_id": row.commit_id,
    }
    if row.submitted_at is not None:
        body["submitted_at"] = iso(row.submitted_at)
    return body


def review_in_event(store: Store, row: Review) -> Json:
    """Webhooks have the state in small letters and an empty body as null."""
    shown = {"submitted_at": None, "updated_at": iso_or_none(row.submitted_at)} | review(store, row)
    return shown | {"state": row.state.lower(), "body": row.body or None}


def comment(store: Store, row: ReviewComment) -> Json:
    """`pull-request-review-comment`. A comment whose head is gone keeps only its original line."""
    pull = row.pull
    base = repositories.url(store, pull.repository)
    url, pull_url = f"{base}/pulls/comments/{row.id}", f"{base}/pulls/{pull.number}"
    page = f"{issues.html_url(store, pull.issue)}#discussion_r{row.id}"
    outdated = row.subject_type == "line" and not _still_there(row)
    body: Json = {
        "url": url,
        "pull_request_review_id": row.review.id,
        "id": row.id,
        "node_id": node_id("PRRC", row.id),
        "diff_hunk": row.diff_hunk,
        "path": row.path,
        "commit_id": row.commit_id,
        "original_commit_id": row.original_commit_id,
        "user": users.simple_or_none(store, row.user),
        "body": row.body,
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "html_url": page,
        "pull_request_url": pull_url,
        "author_association": issues.association(store, pull.repository, row.user),
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull_url}},
        "reactions": issues.reactions(row.reactions, url),
        "start_line": None if outdated else row.start_line,
        "original_start_line": row.start_line,
        "start_side": row.start_side,
        "line": None if outdated else row.line,
        "original_line": row.original_line,
        "side": row.side,
        "original_position": row.position,
        "position": None if outdated else row.position,
        "subject_type": row.subject_type,
    }
    if row.in_reply_to is not None:
        body["in_reply_to_id"] = row.in_reply_to
    return body


def _still_there(row: ReviewComment) -> bool:
    """Whether the file is as it was when the comment was made."""
    git = row.pull.repository.git
    if row.original_commit_id == row.pull.head_sha:
        return True
    then, now = git.entry(row.original_commit_id, row.path), git.entry(row.pull.head_sha, row.path)
    return then is not None and now is not None and then.sha == now.sha
