"""Reviews, comments on lines, threads."""

from dataclasses import dataclass

from github.emulator.forge import Forge
from github.emulator.git import diff
from github.emulator.git.hunks import find_line
from github.emulator.store.issues import Pull
from github.emulator.store.reviews import Review, ReviewComment, Thread
from github.emulator.store.table import node_id
from github.emulator.store.users import User
from github.emulator.views import pulls as pull_views
from github.emulator.views import reviews as views

STATES = {"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}


@dataclass(frozen=True)
class Place:
    """Where in the diff a comment stands. `line` None: on the whole file."""

    path: str
    line: int | None
    side: str = "RIGHT"
    start_line: int | None = None
    start_side: str | None = None


def hunk(pull: Pull, place: Place) -> str | None:
    """The part of the diff down to the line; None when the line is in no hunk."""
    git = pull.repository.git
    for change in diff.changes(git, pull_views.merge_base(pull), pull.head_sha):
        if change.path == place.path:
            if place.line is None:
                return change.patch or ""
            return find_line(change.patch or "", place.line, place.side)
    return None


def _tell(forge: Forge, row: ReviewComment, action: str, by: User, **extra: object) -> None:
    payload = {
        "comment": views.comment(forge.store, row),
        "pull_request": pull_views.simple(forge.store, row.pull),
    } | extra
    forge.emit("pull_request_review_comment", action, payload, row.pull.repository, by)


def reviewed(forge: Forge, pull: Pull, by: User, state: str, body: str, commit_id: str | None = None) -> Review:
    """A review, not told yet: its comments are added first. `state` as the store has it."""
    pending = state == "PENDING"
    row = Review(
        forge.store.reviews.new_id(),
        pull,
        by,
        body,
        state,
        commit_id or pull.head_sha,
        None if pending else forge.now(),
    )
    return forge.store.reviews.add(row)


def submitted(forge: Forge, row: Review, by: User) -> None:
    """Tell of the review, and take its author off those who were asked."""
    if by in row.pull.requested_reviewers and row.state != "COMMENTED":
        row.pull.requested_reviewers.remove(by)
    row.pull.issue.updated_at = forge.now()
    _tell_review(forge, row, "submitted", by)


def _tell_review(forge: Forge, row: Review, action: str, by: User, **extra: object) -> None:
    payload = {
        "review": views.review_in_event(forge.store, row),
        "pull_request": pull_views.simple(forge.store, row.pull),
    } | extra
    forge.emit("pull_request_review", action, payload, row.pull.repository, by)


def dismissed(forge: Forge, row: Review, by: User) -> None:
    row.state = "DISMISSED"
    _tell_review(forge, row, "dismissed", by)


def review_edited(forge: Forge, row: Review, body: str, by: User) -> None:
    before, row.body = row.body, body
    _tell_review(forge, row, "edited", by, changes={"body": {"from": before}})


def commented(
    forge: Forge,
    review: Review,
    by: User,
    body: str,
    place: Place,
    diff_hunk: str,
    reply_to: ReviewComment | None = None,
) -> ReviewComment:
    """A comment on a line, opening a thread or going on with one."""
    now, pull = forge.now(), review.pull
    thread = reply_to.thread if reply_to else forge.store.threads.add(Thread(forge.store.threads.new_id(), pull))
    row = ReviewComment(
        id=forge.store.review_comments.new_id(),
        pull=pull,
        review=review,
        thread=thread,
        user=by,
        body=body,
        path=place.path,
        commit_id=review.commit_id,
        original_commit_id=review.commit_id,
        diff_hunk=diff_hunk,
        created_at=now,
        updated_at=now,
        line=place.line,
        original_line=place.line,
        start_line=place.start_line,
        side=place.side,
        start_side=place.start_side,
        subject_type="line" if place.line is not None else "file",
        in_reply_to=_root(forge, reply_to).id if reply_to else None,
        position=max(diff_hunk.count("\n"), 1),
    )
    forge.store.review_comments.add(row)
    if review.state != "PENDING":
        _tell(forge, row, "created", by)
    return row


def _root(forge: Forge, row: ReviewComment) -> ReviewComment:
    first = forge.store.review_comments.get(row.in_reply_to) if row.in_reply_to else None
    return first or row


def replied(forge: Forge, to: ReviewComment, by: User, body: str) -> ReviewComment:
    """A reply makes a review of its own, as on GitHub."""
    review = reviewed(forge, to.pull, by, "COMMENTED", "")
    place = Place(to.path, to.line, to.side, to.start_line, to.start_side)
    row = commented(forge, review, by, body, place, to.diff_hunk, to)
    submitted(forge, review, by)
    return row


def edited(forge: Forge, row: ReviewComment, by: User, body: str) -> None:
    if body == row.body:
        return
    before, row.body = row.body, body
    row.updated_at = forge.now()
    _tell(forge, row, "edited", by, changes={"body": {"from": before}})


def deleted(forge: Forge, row: ReviewComment, by: User) -> None:
    _tell(forge, row, "deleted", by)
    forge.store.review_comments.remove(row)


def thread_resolved(forge: Forge, thread: Thread, on: bool, by: User) -> None:
    if thread.resolved == on:
        return
    thread.resolved, thread.resolved_by = on, by if on else None
    store = forge.store
    rows = [row for row in store.review_comments if row.thread is thread]
    payload = {
        "thread": {
            "node_id": node_id("PRRT", thread.id),
            "comments": [views.comment(forge.store, row) for row in rows],
        },
        "pull_request": pull_views.simple(forge.store, thread.pull),
    }
    action = "resolved" if on else "unresolved"
    forge.emit("pull_request_review_thread", action, payload, thread.pull.repository, by)
