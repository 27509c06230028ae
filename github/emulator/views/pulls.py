"""Pull requests."""

from typing import Any

from github.emulator.clock import iso, iso_or_none
from github.emulator.git import diff
from github.emulator.rules import merging
from github.emulator.store.issues import Pull
from github.emulator.store.repositories import Repository
from github.emulator.store.store import Store
from github.emulator.store.table import node_id
from github.emulator.store.users import User
from github.emulator.views import issues, repositories, users

Json = dict[str, Any]


def span(pull: Pull) -> str:
    """The commits of the pull request, as a git range."""
    return f"{pull.base_sha}..{pull.head_sha}"


def merge_base(pull: Pull) -> str:
    return pull.repository.git.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha


def _end(store: Store, label: str, ref: str, sha: str, repository: Repository | None, user: User | None) -> Json:
    return {
        "label": label,
        "ref": ref,
        "sha": sha,
        "user": users.simple_or_none(store, user),
        "repo": None if repository is None or repository.deleted else repositories.repository(store, repository),
    }


def simple(store: Store, pull: Pull) -> Json:
    """`pull-request-simple`: the form of lists and of review events."""
    issue, repository = pull.issue, pull.repository
    base = repositories.url(store, repository)
    url, page = f"{base}/pulls/{pull.number}", issues.html_url(store, issue)
    links = {
        "self": url,
        "html": page,
        "issue": f"{base}/issues/{pull.number}",
        "comments": f"{base}/issues/{pull.number}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{base}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{base}/statuses/{pull.head_sha}",
    }
    head_owner = store.user(pull.head_label.partition(":")[0])  # known also when the fork is gone
    return {
        "url": url,
        "id": pull.id,
        "node_id": node_id("PR", pull.id),
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": links["issue"],
        "number": pull.number,
        "state": issue.state,
        "locked": issue.locked,
        "title": issue.title,
        "user": users.simple_or_none(store, issue.user),
        "body": issue.body,
        "created_at": iso(issue.created_at),
        "updated_at": iso(issue.updated_at),
        "closed_at": iso_or_none(issue.closed_at),
        "merged_at": iso_or_none(pull.merged_at),
        "merge_commit_sha": pull.merge_sha,
        "assignee": users.simple_or_none(store, issue.assignees[0] if issue.assignees else None),
        "assignees": [users.simple(store, user) for user in issue.assignees],
        "requested_reviewers": [users.simple(store, user) for user in pull.requested_reviewers],
        "requested_teams": [],
        "labels": [repositories.label(store, repository, label) for label in issue.labels],
        "milestone": None,
        "draft": pull.draft,
        "commits_url": links["commits"],
        "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"],
        "comments_url": links["comments"],
        "statuses_url": links["statuses"],
        "head": _end(store, pull.head_label, pull.head_ref, pull.head_sha, pull.head_repository, head_owner),
        "base": _end(
            store,
            f"{repository.owner.login}:{pull.base_ref}",
            pull.base_ref,
            pull.shown_base_sha,
            repository,
            repository.owner,
        ),
        "_links": {key: {"href": value} for key, value in links.items()},
        "author_association": issues.association(store, repository, issue.user),
        "auto_merge": None,
        "active_lock_reason": issue.lock_reason,
    }


def full(store: Store, pull: Pull) -> Json:
    """`pull-request`: with the counts and whether it can be merged, as far as that is known now."""
    git = pull.repository.git
    files = diff.changes(git, merge_base(pull), pull.head_sha)
    known = pull.merge_of == (pull.base_sha, pull.head_sha)
    mergeable = pull.mergeable if known and pull.open else None
    return simple(store, pull) | {
        "merged": pull.merged_at is not None,
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": merging.mergeable_state(store, pull) if known else "unknown",
        "merged_by": users.simple_or_none(store, pull.merged_by),
        "comments": len(store.comments_of(pull.issue)),
        "review_comments": len(store.review_comments_of(pull)),
        "maintainer_can_modify": pull.maintainer_can_modify,
        "commits": git.count(span(pull)),
        "additions": sum(file.additions for file in files),
        "deletions": sum(file.deletions for file in files),
        "changed_files": len(files),
    }


def brief(store: Store, pull: Pull) -> Json:
    """`pull-request-minimal`, as checks and runs list them."""

    def end(ref: str, sha: str, repository: Repository) -> Json:
        repo = {"id": repository.id, "url": repositories.url(store, repository), "name": repository.name}
        return {"ref": ref, "sha": sha, "repo": repo}

    return {
        "url": f"{repositories.url(store, pull.repository)}/pulls/{pull.number}",
        "id": pull.id,
        "number": pull.number,
        "head": end(pull.head_ref, pull.head_sha, pull.head_repository or pull.repository),
        "base": end(pull.base_ref, pull.shown_base_sha, pull.repository),
    }


def of_commit(store: Store, repository: Repository, sha: str, branch: str | None) -> list[Json]:
    """The open pull requests of a commit of this repository; those from forks are never listed."""
    return [
        brief(store, pull)
        for pull in store.pulls
        if pull.open and pull.head_repository is repository and pull.head_sha == sha and branch in (None, pull.head_ref)
    ]
