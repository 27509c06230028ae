"""Changes of the world under open conversations."""

from typing import Any

import pytest

from github.webhooks.outcomes import Change, LifecycleEvent
from tests.github.samples import REPOSITORY, SHA, comment, event, issue, outcome, pull

ZEROS = "0" * 40

NEWS = [
    ("issues", event(action="closed", issue=issue()), Change.ISSUE_CLOSED),
    ("issues", event(action="deleted", issue=issue("@greenloop")), Change.ISSUE_DELETED),
    ("issues", event(action="transferred", issue=issue()), Change.ISSUE_TRANSFERRED),
    (
        "issue_comment",
        event(action="deleted", issue=issue(), comment=comment("@greenloop x")),
        Change.COMMENT_DELETED,
    ),
    (
        "pull_request_review_comment",
        event(action="deleted", pull_request=pull(), comment=comment("@greenloop x")),
        Change.COMMENT_DELETED,
    ),
    ("pull_request", event(action="opened", pull_request=pull()), Change.PULL_OPENED),
    ("pull_request", event(action="reopened", pull_request=pull()), Change.PULL_REOPENED),
    ("pull_request", event(action="ready_for_review", pull_request=pull(None)), Change.PULL_READY),
    ("pull_request", event(action="closed", pull_request=pull(state="closed", merged=False)), Change.PULL_CLOSED),
    ("pull_request", event(action="closed", pull_request=pull(state="closed", merged=True)), Change.PULL_MERGED),
    ("pull_request", event(action="synchronize", pull_request=pull(), before="b" * 40, after=SHA), Change.BRANCH_MOVED),
    ("push", event(ref="refs/heads/topic", before="b" * 40, after=SHA), Change.BRANCH_MOVED),
    ("push", event(ref="refs/heads/topic", before=ZEROS, after=SHA, created=True), Change.BRANCH_MOVED),
    ("push", event(ref="refs/heads/topic", before=SHA, after=ZEROS, deleted=True), Change.BRANCH_DELETED),
    ("repository", event(action="renamed", changes={"repository": {"name": {"from": "old"}}}), Change.RENAMED),
    ("repository", event(action="transferred"), Change.TRANSFERRED),
    ("repository", event(action="archived"), Change.ARCHIVED),
    ("repository", event(action="unarchived"), Change.UNARCHIVED),
    ("repository", event(action="deleted"), Change.REPOSITORY_DELETED),
    ("repository", event(action="edited", changes={"default_branch": {"from": "main"}}), Change.DEFAULT_BRANCH_CHANGED),
    ("installation", {"action": "created", "installation": {"id": 5}}, Change.INSTALLED),
    ("installation", {"action": "deleted", "installation": {"id": 5}}, Change.UNINSTALLED),
    ("installation", {"action": "suspend", "installation": {"id": 5}}, Change.SUSPENDED),
    ("installation", {"action": "unsuspend", "installation": {"id": 5}}, Change.UNSUSPENDED),
    (
        "installation",
        {"action": "new_permissions_accepted", "installation": {"id": 5}},
        Change.PERMISSIONS_ACCEPTED,
    ),
    (
        "installation_repositories",
        {"action": "added", "installation": {"id": 5}, "repositories_added": [REPOSITORY]},
        Change.REPOSITORIES_ADDED,
    ),
    (
        "installation_repositories",
        {"action": "removed", "installation": {"id": 5}, "repositories_removed": [REPOSITORY, None]},
        Change.REPOSITORIES_REMOVED,
    ),
]


@pytest.mark.parametrize(("name", "payload", "change"), NEWS)
def test_a_change_of_the_world_is_news(name: str, payload: dict[str, Any], change: Change) -> None:
    found = outcome(name, payload)
    assert isinstance(found, LifecycleEvent), found
    assert (found.change, found.installation_id) == (change, 5)


def test_news_of_a_deleted_branch_has_no_commit_after_it() -> None:
    found = outcome("push", event(ref="refs/heads/a/b", before=SHA, after=ZEROS, deleted=True))
    assert isinstance(found, LifecycleEvent)
    assert (found.branch, found.before, found.after) == ("a/b", SHA, "")


def test_a_push_to_a_forks_branch_of_our_name_is_not_our_branch() -> None:
    forked = pull(head={"ref": "greenloop/12-x", "sha": SHA, "repo": {"id": 99}})
    found = outcome("pull_request", event(action="synchronize", pull_request=forked, after=SHA))
    assert isinstance(found, LifecycleEvent)
    assert found.branch == ""
    assert found.subject is not None
    assert found.subject.head_repository_id == 99


def test_news_of_repositories_lists_those_that_there_are() -> None:
    payload = {"action": "removed", "installation": {"id": 5}, "repositories_removed": [REPOSITORY, None]}
    found = outcome("installation_repositories", payload)
    assert isinstance(found, LifecycleEvent)
    assert [repo.full_name for repo in found.repositories] == ["octo/app"]
