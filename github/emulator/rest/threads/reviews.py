"""Reviews of pull requests, comments on lines, requested reviewers."""

from typing import Any

from github.emulator.acts import pulls as pull_acts
from github.emulator.acts import reviews as acts
from github.emulator.acts.reviews import Place
from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, invalid, not_found
from github.emulator.rest.threads.comments import react, show_reactions
from github.emulator.rest.threads.issues import refuse_locked
from github.emulator.rest.threads.pulls import PULL, PULLS, READ, WRITE, find
from github.emulator.store.issues import Pull
from github.emulator.store.reviews import Review, ReviewComment
from github.emulator.store.users import User
from github.emulator.views import pulls as pull_views
from github.emulator.views import reviews as views

REVIEW = f"{PULL}/reviews/{{review_id}}"
COMMENT = f"{PULLS}/comments/{{comment_id}}"


def listed(call: Call) -> Listing:
    pull = find(call)
    rows = [r for r in call.store.reviews if r.pull is pull and (r.state != "PENDING" or r.user is call.actor.user)]
    return Listing(rows, lambda row: views.review(call.store, row))


def _simple_422(text: str) -> Refusal:
    return Refusal(422, "Unprocessable Entity", {"errors": [text]})


def create(call: Call) -> Answer:
    """200, not 201. Nobody approves or refuses their own pull request; a review without `event` stays pending."""
    pull, user, event = find(call), call.user, call.get("event")
    refuse_locked(call, pull.issue, "review")
    body, drafts = call.get("body") or "", call.get("comments") or []
    if event is not None and event not in acts.STATES:
        raise _simple_422(f"Variable $event of type PullRequestReviewEvent was provided invalid value: {event}")
    if event in ("APPROVE", "REQUEST_CHANGES") and pull.issue.user is user:
        word = "approve" if event == "APPROVE" else "request changes on"
        raise _simple_422(f"Can not {word} your own pull request")
    if event == "REQUEST_CHANGES" and not body:
        raise _simple_422("Body is required when requesting changes")
    if event == "COMMENT" and not body and not drafts:
        raise _simple_422("Body can't be blank")
    places = [(_place(item), str(item.get("body") or "")) for item in drafts]
    hunks = [acts.hunk(pull, place) for place, _ in places]
    if any(text is None for text in hunks):
        raise _simple_422("Line could not be resolved")
    review = acts.reviewed(call.forge, pull, user, acts.STATES.get(event or "", "PENDING"), body, call.get("commit_id"))
    for (place, text), hunk in zip(places, hunks, strict=True):
        acts.commented(call.forge, review, user, text, place, hunk or "")
    if review.state != "PENDING":
        acts.submitted(call.forge, review, user)
    return Answer(200, views.review(call.store, review))


def _place(item: Any) -> Place:
    """A place of a request, by `line` and `side`; `subject_type: file` has no line."""
    path, line = item.get("path"), item.get("line")
    if not isinstance(path, str) or not path:
        raise invalid("PullRequestReviewComment", "path", "missing_field")
    if item.get("subject_type") == "file":
        return Place(path, None)
    if not isinstance(line, int):
        raise invalid("PullRequestReviewComment", "line", "missing_field")
    return Place(path, line, item.get("side") or "RIGHT", item.get("start_line"), item.get("start_side"))


def _review(call: Call) -> Review:
    row = call.store.reviews.get(call.number("review_id"))
    if row is None or row.pull is not find(call):
        raise not_found()
    return row


def get(call: Call) -> Answer:
    return Answer(200, views.review(call.store, _review(call)))


def dismiss(call: Call) -> Answer:
    row = _review(call)
    if row.state not in ("APPROVED", "CHANGES_REQUESTED"):
        raise _simple_422("Can not dismiss a commented pull request review")
    acts.dismissed(call.forge, row, call.user)
    return Answer(200, views.review(call.store, row))


def edit_review(call: Call) -> Answer:
    row = _review(call)
    acts.review_edited(call.forge, row, call.text("body", "PullRequestReview"), call.user)
    return Answer(200, views.review(call.store, row))


def submit(call: Call) -> Answer:
    row, event = _review(call), call.get("event")
    if event not in acts.STATES or row.state != "PENDING":
        raise _simple_422("Can not submit this review")
    row.state, row.body, row.submitted_at = acts.STATES[event], call.get("body") or row.body, call.store.now()
    acts.submitted(call.forge, row, call.user)
    return Answer(200, views.review(call.store, row))


def _show(call: Call, rows: list[ReviewComment]) -> Listing:
    return Listing(rows, lambda row: views.comment(call.store, row))


def review_comments(call: Call) -> Listing:
    review = _review(call)
    return _show(call, [row for row in call.store.review_comments if row.review is review])


def pull_comments(call: Call) -> Listing:
    return _show(call, call.store.review_comments_of(find(call)))


def create_comment(call: Call) -> Answer:
    pull = find(call)
    refuse_locked(call, pull.issue)
    body = call.checked_body("PullRequestReviewComment", call.get("body")) or ""
    if call.get("in_reply_to") is not None:
        return _created(call, acts.replied(call.forge, _of_pull(call, pull, call.get("in_reply_to")), call.user, body))
    call.text("commit_id", "PullRequestReviewComment")
    place = _place(call.body)
    hunk = acts.hunk(pull, place)
    if hunk is None:
        message = "pull_request_review_thread.line must be part of the diff"
        raise invalid("PullRequestReviewComment", "pull_request_review_thread.line", "custom", message)
    review = acts.reviewed(call.forge, pull, call.user, "COMMENTED", "", call.get("commit_id"))
    row = acts.commented(call.forge, review, call.user, body, place, hunk)
    acts.submitted(call.forge, review, call.user)
    return _created(call, row)


def _of_pull(call: Call, pull: Pull, number: object) -> ReviewComment:
    row = call.store.review_comments.get(number) if isinstance(number, int) else None
    if row is None or row.pull is not pull:
        raise not_found()
    return row


def _created(call: Call, row: ReviewComment) -> Answer:
    body = views.comment(call.store, row)
    return Answer(201, body, {"location": body["url"]})


def reply(call: Call) -> Answer:
    pull = find(call)
    refuse_locked(call, pull.issue)
    body = call.checked_body("PullRequestReviewComment", call.get("body")) or ""
    return _created(call, acts.replied(call.forge, _of_pull(call, pull, call.number("comment_id")), call.user, body))


def _comment(call: Call) -> ReviewComment:
    row = call.store.review_comments.get(call.number("comment_id"))
    if row is None or row.pull.repository is not call.repository:
        raise not_found()
    return row


def comment(call: Call) -> Answer:
    return Answer(200, views.comment(call.store, _comment(call)))


def react_to_comment(call: Call) -> Answer:
    return react(call, _comment(call).pull.issue, _comment(call).reactions)


def edit_comment(call: Call) -> Answer:
    row = _comment(call)
    body = call.checked_body("PullRequestReviewComment", call.get("body")) or ""
    acts.edited(call.forge, row, call.user, body)
    return Answer(200, views.comment(call.store, row))


def delete_comment(call: Call) -> Answer:
    acts.deleted(call.forge, _comment(call), call.user)
    return Answer(204, empty=True)


def _people(call: Call) -> list[User]:
    pull, found = find(call), []
    for login in call.get("reviewers") or []:
        user = call.store.user(str(login))
        if user is None or user.type == "Bot" or call.repository.role_of(user) == "none":
            text = "Reviews may only be requested from collaborators. One or more of the users or teams you specified"
            raise Refusal(422, f"{text} is not a collaborator of the {call.repository.full_name} repository.")
        if user is pull.issue.user:
            raise Refusal(422, "Review cannot be requested from pull request author.")
        found.append(user)
    return found


def request_reviewers(call: Call) -> Answer:
    pull = find(call)
    pull_acts.reviewers_requested(call.forge, pull, _people(call), call.user)
    return Answer(201, pull_views.simple(call.store, pull))


def remove_reviewers(call: Call) -> Answer:
    pull = find(call)
    pull_acts.reviewers_removed(call.forge, pull, _people(call), call.user)
    return Answer(200, pull_views.simple(call.store, pull))


ROUTES = [
    Route("GET", f"{PULL}/reviews", listed, READ),
    Route("POST", f"{PULL}/reviews", create, WRITE, "read"),
    Route("GET", REVIEW, get, READ),
    Route("PUT", REVIEW, edit_review, WRITE, "read"),
    Route("PUT", f"{REVIEW}/dismissals", dismiss, WRITE),
    Route("POST", f"{REVIEW}/events", submit, WRITE, "read"),
    Route("GET", f"{REVIEW}/comments", review_comments, READ),
    Route("GET", f"{PULL}/comments", pull_comments, READ),
    Route("POST", f"{PULL}/comments", create_comment, WRITE, "read"),
    Route("POST", f"{PULL}/comments/{{comment_id}}/replies", reply, WRITE, "read"),
    Route("GET", COMMENT, comment, READ),
    Route("PATCH", COMMENT, edit_comment, WRITE, "read"),
    Route("DELETE", COMMENT, delete_comment, WRITE, "read"),
    Route("GET", f"{COMMENT}/reactions", lambda call: show_reactions(call, _comment(call).reactions), READ),
    Route(
        "POST",
        f"{COMMENT}/reactions",
        react_to_comment,
        WRITE,
        "read",
    ),
    Route("POST", f"{PULL}/requested_reviewers", request_reviewers, WRITE),
    Route("DELETE", f"{PULL}/requested_reviewers", remove_reviewers, WRITE),
]
