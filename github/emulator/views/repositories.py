"""Repositories."""

from typing import Any

from github.emulator.clock import iso
from github.emulator.store.repositories import ROLES, Label, Repository
from github.emulator.store.store import Store
from github.emulator.store.table import node_id
from github.emulator.store.users import User
from github.emulator.views import users

Json = dict[str, Any]

_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


def url(store: Store, row: Repository) -> str:
    return f"{store.origins.api}/repos/{row.full_name}"


def minimal(store: Store, row: Repository) -> Json:
    """`minimal-repository`, as runs, suites and statuses carry it."""
    base = url(store, row)
    return {
        "id": row.id,
        "node_id": node_id("R", row.id),
        "name": row.name,
        "full_name": row.full_name,
        "private": row.private,
        "owner": users.simple(store, row.owner),
        "html_url": f"{store.origins.web}/{row.full_name}",
        "description": row.description,
        "fork": row.parent is not None,
        "url": base,
    } | {key: base + tail for key, tail in _LINKS.items()}


def repository(store: Store, row: Repository) -> Json:
    """`repository`, also the one in webhooks."""
    open_issues = sum(1 for issue in store.issues_of(row) if issue.state == "open")
    forks = sum(1 for other in store.repositories if other.parent is row)
    host = store.origins.web.partition("://")[2]
    return minimal(store, row) | {
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "pushed_at": iso(row.pushed_at),
        "git_url": f"git://{host}/{row.full_name}.git",
        "ssh_url": f"git@{host.partition(':')[0]}:{row.full_name}.git",
        "clone_url": f"{store.origins.web}/{row.full_name}.git",
        "svn_url": f"{store.origins.web}/{row.full_name}",
        "homepage": None,
        "size": 1,
        "stargazers_count": 0,
        "watchers_count": 0,
        "language": None,
        "has_issues": row.has_issues,
        "has_projects": True,
        "has_downloads": True,
        "has_wiki": True,
        "has_pages": False,
        "has_discussions": False,
        "has_pull_requests": True,
        "pull_request_creation_policy": "all",
        "forks_count": forks,
        "mirror_url": None,
        "archived": row.archived,
        "disabled": row.disabled,
        "open_issues_count": open_issues,
        "license": None,
        "allow_forking": True,
        "is_template": False,
        "web_commit_signoff_required": False,
        "topics": [],
        "visibility": row.visibility,
        "forks": forks,
        "open_issues": open_issues,
        "watchers": 0,
        "default_branch": row.default_branch,
    }


def permissions(row: Repository, user: User | None) -> dict[str, bool]:
    """What a person may do, in GitHub's five steps."""
    role = ROLES.index(row.role_of(user))
    steps = {"admin": "admin", "maintain": "maintain", "push": "write", "triage": "triage", "pull": "read"}
    return {key: role >= ROLES.index(needed) for key, needed in steps.items()}


def full(store: Store, row: Repository, rights: dict[str, bool], push: bool) -> Json:
    """`full-repository`; merge settings are only for those who may push."""
    body = repository(store, row) | {"permissions": rights, "subscribers_count": 0, "network_count": 0}
    if row.owner.type == "Organization":
        body["organization"] = users.simple(store, row.owner)
    if row.parent is not None:
        body["parent"] = repository(store, row.parent)
        body["source"] = repository(store, row.parent)
    if push:
        body |= {
            "allow_squash_merge": True,
            "allow_merge_commit": True,
            "allow_rebase_merge": True,
            "allow_auto_merge": row.allow_auto_merge,
            "delete_branch_on_merge": row.delete_branch_on_merge,
            "allow_update_branch": row.allow_update_branch,
            "use_squash_pr_title_as_default": False,
            "squash_merge_commit_title": "COMMIT_OR_PR_TITLE",
            "squash_merge_commit_message": "COMMIT_MESSAGES",
            "merge_commit_title": "MERGE_MESSAGE",
            "merge_commit_message": "PR_TITLE",
        }
    return body


def label(store: Store, row: Repository, item: Label) -> Json:
    return {
        "id": item.id,
        "node_id": node_id("LA", item.id),
        "url": f"{url(store, row)}/labels/{item.name.replace(' ', '%20')}",
        "name": item.name,
        "color": item.color,
        "default": item.default,
        "description": item.description,
    }


def brief(row: Repository) -> Json:
    """As `installation` events list repositories."""
    return {
        "id": row.id,
        "node_id": node_id("R", row.id),
        "name": row.name,
        "full_name": row.full_name,
        "private": row.private,
    }
