"""Issues, their comments and reactions."""

from typing import TYPE_CHECKING, Any

from github.emulator.clock import iso, iso_or_none
from github.emulator.store.comments import Comment
from github.emulator.store.issues import Issue
from github.emulator.store.reactions import CONTENTS, Reaction
from github.emulator.store.repositories import Repository
from github.emulator.store.table import node_id
from github.emulator.store.users import User
from github.emulator.views import apps, repositories, users

if TYPE_CHECKING:
    from github.emulator.hub import Hub

Json = dict[str, Any]


def association(hub: "Hub", repository: Repository, user: User | None) -> str:
    """`author_association`, as unreliable as GitHub's: private members of an organisation show as NONE."""
    if user is None:
        return "NONE"
    if user.id == repository.owner.id:
        return "OWNER"
    if repository.roles.get(user.id) in ("write", "maintain", "admin", "triage", "read"):
        return "NONE" if repository.owner.type == "Organization" else "COLLABORATOR"
    merged = any(p.merged_at and p.issue.user is user for p in hub.store.pulls_of(repository))
    return "CONTRIBUTOR" if merged else "NONE"


def reactions(rows: list[Reaction], url: str) -> Json:
    """The roll-up of reactions on an object."""
    counts: Json = {content: sum(1 for row in rows if row.content == content) for content in CONTENTS}
    return {"url": f"{url}/reactions", "total_count": len(rows), **counts}


def reaction(hub: "Hub", row: Reaction) -> Json:
    return {
        "id": row.id,
        "node_id": node_id("REA", row.id),
        "user": users.simple(hub, row.user),
        "content": row.content,
        "created_at": iso(row.created_at),
    }


def html_url(hub: "Hub", row: Issue) -> str:
    return f"{hub.web_url}/{row.repository.full_name}/{'pull' if row.pull else 'issues'}/{row.number}"


def issue(hub: "Hub", row: Issue) -> Json:
    """`issue`; a pull request carries `pull_request` with its links."""
    base = repositories.url(hub, row.repository)
    url = f"{base}/issues/{row.number}"
    page = html_url(hub, row)
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
        "user": users.simple_or_none(hub, row.user),
        "labels": [repositories.label(hub, row.repository, label) for label in row.labels],
        "state": row.state,
        "locked": row.locked,
        "assignee": users.simple_or_none(hub, row.assignees[0] if row.assignees else None),
        "assignees": [users.simple(hub, user) for user in row.assignees],
        "milestone": None,
        "comments": len(hub.store.comments_of(row)),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "closed_at": iso_or_none(row.closed_at),
        "author_association": association(hub, row.repository, row.user),
        "active_lock_reason": None,
        "body": row.body,
        "reactions": reactions(row.reactions, url),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": apps.app_or_none(hub, row.via_app),
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


def full(hub: "Hub", row: Issue) -> Json:
    """The single issue, which also says who closed it."""
    return issue(hub, row) | {"closed_by": users.simple_or_none(hub, row.closed_by)}


def comment(hub: "Hub", row: Comment) -> Json:
    """`issue-comment`."""
    base = repositories.url(hub, row.issue.repository)
    url = f"{base}/issues/comments/{row.id}"
    return {
        "url": url,
        "html_url": f"{html_url(hub, row.issue)}#issuecomment-{row.id}",
        "issue_url": f"{base}/issues/{row.issue.number}",
        "id": row.id,
        "node_id": node_id("IC", row.id),
        "user": users.simple_or_none(hub, row.user),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "author_association": association(hub, row.issue.repository, row.user),
        "body": row.body,
        "reactions": reactions(row.reactions, url),
        "performed_via_github_app": apps.app_or_none(hub, row.via_app),
    }
