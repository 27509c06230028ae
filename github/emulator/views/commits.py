"""Commits, trees, blobs, refs and comparisons."""

from datetime import UTC
from typing import Any
from urllib.parse import quote

from github.emulator.clock import iso
from github.emulator.git import commits, diff
from github.emulator.git.commits import Commit
from github.emulator.git.repository import EMPTY_TREE
from github.emulator.store.repositories import Repository
from github.emulator.store.store import Store
from github.emulator.store.table import node_id
from github.emulator.store.users import User
from github.emulator.views import repositories, users

Json = dict[str, Any]
MAX_FILES = 300


def git_node(prefix: str, repository: Repository, name: str) -> str:
    """A GraphQL id of a git object: these have no number of their own."""
    return f"{node_id(prefix, repository.id)}_{name}"


def verification(store: Store, commit: Commit) -> Json:
    """`verified` only for what the web side signed: no other key is known here."""
    ours = commit.signature is not None and commit.payload is not None
    valid = ours and store.signer.sign((commit.payload or "").encode()).strip() == (commit.signature or "").strip()
    return {
        "verified": valid,
        "reason": "valid" if valid else "unsigned" if commit.signature is None else "unknown_key",
        "signature": commit.signature,
        "payload": commit.payload,
        "verified_at": iso(commit.committer.date) if valid else None,
    }


def _person(person: commits.Person) -> Json:
    return {"name": person.name, "email": person.email, "date": _utc(person)}


def _utc(person: commits.Person) -> str:
    return iso(person.date.astimezone(UTC))


def account(store: Store, email: str) -> User | None:
    """The account that an e-mail address of a commit belongs to."""
    wanted = email.lower()
    for user in store.users:
        if wanted in ((user.email or "").lower(), user.noreply.lower(), f"{user.login}@users.noreply.github.com"):
            return user
    return None


def git_commit(store: Store, repository: Repository, commit: Commit) -> Json:
    """`git-commit`, of the git data endpoints."""
    base, page = repositories.url(store, repository), f"{store.origins.web}/{repository.full_name}/commit"
    return {
        "sha": commit.sha,
        "node_id": git_node("C", repository, commit.sha),
        "url": f"{base}/git/commits/{commit.sha}",
        "html_url": f"{page}/{commit.sha}",
        "author": _person(commit.author),
        "committer": _person(commit.committer),
        "tree": {"sha": commit.tree, "url": f"{base}/git/trees/{commit.tree}"},
        "message": commit.message,
        "parents": [
            {"sha": sha, "url": f"{base}/git/commits/{sha}", "html_url": f"{page}/{sha}"} for sha in commit.parents
        ],
        "verification": verification(store, commit),
    }


def commit(store: Store, repository: Repository, row: Commit) -> Json:
    """`commit`, of lists and comparisons."""
    base, page = repositories.url(store, repository), f"{store.origins.web}/{repository.full_name}/commit"
    return {
        "sha": row.sha,
        "node_id": git_node("C", repository, row.sha),
        "commit": {
            "author": _person(row.author),
            "committer": _person(row.committer),
            "message": row.message.rstrip("\n"),
            "tree": {"sha": row.tree, "url": f"{base}/git/trees/{row.tree}"},
            "url": f"{base}/git/commits/{row.sha}",
            "comment_count": 0,
            "verification": verification(store, row),
        },
        "url": f"{base}/commits/{row.sha}",
        "html_url": f"{page}/{row.sha}",
        "comments_url": f"{base}/commits/{row.sha}/comments",
        "author": users.simple_or_none(store, account(store, row.author.email)),
        "committer": users.simple_or_none(store, account(store, row.committer.email)),
        "parents": [{"sha": sha, "url": f"{base}/commits/{sha}", "html_url": f"{page}/{sha}"} for sha in row.parents],
    }


def full_commit(store: Store, repository: Repository, row: Commit) -> Json:
    """The single commit, with its files and counts against the first parent."""
    files = diff.changes(repository.git, row.parents[0] if row.parents else EMPTY_TREE, row.sha)
    added, deleted = sum(f.additions for f in files), sum(f.deletions for f in files)
    return commit(store, repository, row) | {
        "stats": {"total": added + deleted, "additions": added, "deletions": deleted},
        "files": [file(store, repository, change, row.sha) for change in files[:MAX_FILES]],
    }


def file(store: Store, repository: Repository, change: diff.FileChange, sha: str) -> Json:
    """`diff-entry`."""
    path = quote(change.path)
    page = f"{store.origins.web}/{repository.full_name}"
    body = {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page}/blob/{sha}/{path}",
        "raw_url": f"{page}/raw/{sha}/{path}",
        "contents_url": f"{repositories.url(store, repository)}/contents/{path}?ref={sha}",
    }
    if change.patch is not None:
        body["patch"] = change.patch
    if change.previous is not None:
        body["previous_filename"] = change.previous
    return body


def ref(store: Store, repository: Repository, name: str, sha: str) -> Json:
    """`git-ref`."""
    kind = repository.git.kind(sha) or "commit"
    base = repositories.url(store, repository)
    return {
        "ref": name,
        "node_id": git_node("REF", repository, name),
        "url": f"{base}/git/{quote(name)}",
        "object": {"sha": sha, "type": kind, "url": f"{base}/git/{kind}s/{sha}"},
    }


def simple_commit(row: Commit) -> Json:
    """`simple-commit`, as runs and suites carry their head."""
    return {
        "id": row.sha,
        "tree_id": row.tree,
        "message": row.message.rstrip("\n"),
        "timestamp": row.committer.date.isoformat().replace("+00:00", "Z"),
        "author": {"name": row.author.name, "email": row.author.email},
        "committer": {"name": row.committer.name, "email": row.committer.email},
    }
