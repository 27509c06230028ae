"""Issues, their comments and reactions."""

from typing import Any

from github.emulator.clock import iso, iso_or_none
from github.emulator.store.comments import Comment
from github.emulator.store.issues import Issue
from github.emulator.store.reactions import CONTENTS, Reaction
from github.emulator.store.repositories import Repository
from github.emulator.store.store import Store
from github.emulator.store.table import node_id
from github.emulator.store.users import User
from github.emulator.views import apps, repositories, users

Json = dict[str, Any]


def association(store: Store, repository: Repository, user: User | None) -> str:
    """`author_association`, as unreliable as GitHub's: private members of an organisation show as NONE."""
    if user is None:
        return "NONE"
    if user.id == repository.owner.id:
        return "OWNER"
    if repository.roles.get(user.id) in ("write", "maintain", "admin", "triage", "read"):
        return "NONE" if repository.owner.type == "Organization" else "COLLABORATOR"
    merged = any(p.merged_at and p.issue.user is user for p in store.pulls_of(repository))
    return "CONTRIBUTOR" if merged else "NONE"


def reactions(rows: list[Reaction], url: str) -> Json:
    """The roll-up of reactions on an object."""
    counts: Json = {content: sum(1 for row in rows if row.content == content) for content in CONTENTS}
    return {"url": f"{url}/reactions", "total_count": len(rows), **counts}


def reaction(store: Store, row: Reaction) -> Json:
    return {
        "id": row.id,
        "node_id": node_id("REA", row.id),
        "user": users.simple(store, row.user),
        "content": row.content,
        "created_at": iso(row.created_at),
    }


def html_url(store: Store, row: Issue) -> str:
    return f"{store.origins.web}/{row.repository.full_name}/{'pull' if row.pull else 'issues'}/{row.number}"


def issue(store: Store, row: Issue) -> Json:
    """`issue`; a pull request carries `pull_request` with its links."""
    base = repositories.url(store, row.repository)
    url = f"{base}/issues/{row.number}"
    page = html_url(store, row)
    body = {
        "url": url,
        "repository_url": base,
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": page,
        "id": row.id,
        "node_id": node_id("PR" if row.pull else "I", row.pull.id if row.pull else row.id),
        "number": row.number,
        "title": row.title,
        "user": users.simple_or_none(store, row.user),
        "labels": [repositories.label(store, row.repository, label) for label in row.labels],
        "state": row.state,
        "locked": row.locked,
        "assignee": users.simple_or_none(store, row.assignees[0] if row.assignees else None),
        "assignees": [users.simple(store, user) for user in row.assignees],
        "milestone": None,
        "comments": len(store.comments_of(row)),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "closed_at": iso_or_none(row.closed_at),
        "author_association": association(store, row.repository, row.user),
        "active_lock_reason": row.lock_reason,
        "body": row.body,
        "reactions": reactions(row.reactions, url),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": apps.app_or_none(store, row.via_app),
        "state_reason": row.state_reason,
    }
    if row.pull:
        body["draft"] = row.pull.draft
        body["pull_request"] = {
            "url": f"{base}/pulls/{row.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": iso_or_none(row.pull.merged_at),
        }
    return body


def full(store: Store, row: Issue) -> Json:
    """The single issue, which also says who closed it."""
    return issue(store, row) | {"closed_by": users.simple_or_none(store, row.closed_by)}


def comment(store: Store, row: Comment) -> Json:
    """`issue-comment`."""
    base = repositories.url(store, row.issue.repository)
    url = f"{base}/issues/comments/{row.id}"
    return {
        "url": url,
        "html_url": f"{html_url(store, row.issue)}#issuecomment-{row.id}",
        "issue_url": f"{base}/issues/{row.issue.number}",
        "id": row.id,
        "node_id": node_id("IC", row.id),
        "user": users.simple_or_none(store, row.user),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "author_association": association(store, row.issue.repository, row.user),
        "body": row.body,
        "reactions": reactions(row.reactions, url),
        "performed_via_github_app": apps.app_or_none(store, row.via_app),
    }
