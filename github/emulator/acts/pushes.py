"""A ref moved, by git or by REST: who must hear of it."""

from dataclasses import dataclass
from typing import Any

from github.emulator.acts import checks, issues, pulls
from github.emulator.forge import Forge
from github.emulator.git import commits, diff
from github.emulator.git.refs import Update
from github.emulator.git.repository import EMPTY_TREE, ZERO, GitRepository
from github.emulator.store.activities import Activity
from github.emulator.store.issues import Pull
from github.emulator.store.repositories import Repository
from github.emulator.store.users import User
from github.emulator.views.commits import account

Json = dict[str, Any]
MAX_COMMITS = 2048


@dataclass(frozen=True)
class Merging:
    """The pull request that the push merges, whatever commits it is made of; `kind` is that of its activity."""

    pull: Pull
    kind: str


def pushed(forge: Forge, repository: Repository, update: Update, by: User, *, merging: Merging | None = None) -> None:
    """Tell everybody: `create`/`delete`, `push`, pull requests of the branch, check suites and workflows."""
    repository.pushed_at = repository.updated_at = repository.moved[update.ref] = forge.now()
    branch = update.ref.removeprefix("refs/heads/") if update.ref.startswith("refs/heads/") else None
    tag = update.ref.removeprefix("refs/tags/") if update.ref.startswith("refs/tags/") else None
    if branch is None and tag is None:
        return
    brief: Json = {"ref": branch or tag, "ref_type": "branch" if branch else "tag", "pusher_type": "user"}
    if update.old == ZERO:
        about = {"master_branch": repository.default_branch, "description": repository.description}
        forge.emit("create", None, brief | about, repository, by)
    if update.new == ZERO:
        forge.emit("delete", None, brief, repository, by)
    if branch is not None:
        _remember(forge, repository, update, by, merging.kind if merging else _kind(repository.git, update))
        _follow_branch(forge, repository, branch, update, by, merging.pull if merging else None)
    commit = repository.git.resolve(update.new) if update.new != ZERO else None
    if branch is not None and commit is not None:
        checks.suites_requested(forge, repository, commit, branch, update.old, by)
    forge.emit("push", None, _payload(forge, repository, update, by), repository, by)


def _kind(git: GitRepository, update: Update) -> str:
    if update.old == ZERO:
        return "branch_creation"
    if update.new == ZERO:
        return "branch_deletion"
    return "push" if git.is_ancestor(update.old, update.new) else "force_push"


def _remember(forge: Forge, repository: Repository, update: Update, by: User, kind: str) -> None:
    rows = forge.store.activities
    rows.add(Activity(rows.new_id(), repository, update.ref, update.old, update.new, kind, by, forge.now()))


def _follow_branch(
    forge: Forge, repository: Repository, branch: str, update: Update, by: User, merging: Pull | None
) -> None:
    for pull in list(forge.store.pulls):
        if not pull.open:
            continue
        if pull.head_repository is repository and pull.head_ref == branch:
            if update.new == ZERO:
                issues.closed(forge, pull.issue, by)
            elif pull.head_sha != update.new:
                pulls.synchronized(forge, pull, pull.head_sha, update.new, by)
        if pull.repository is repository and pull.base_ref == branch and update.new != ZERO:
            if pull is merging or repository.git.is_ancestor(pull.head_sha, update.new):
                pulls.merged(forge, pull, update.new, by)
            else:
                pull.base_sha = update.new


def _changed_paths(git: GitRepository, commit: commits.Commit) -> Json:
    files = diff.changes(git, commit.parents[0] if commit.parents else EMPTY_TREE, commit.sha)
    return {
        "added": [f.path for f in files if f.status in ("added", "copied", "renamed")],
        "removed": [f.path for f in files if f.status == "removed"]
        + [f.previous for f in files if f.status == "renamed"],
        "modified": [f.path for f in files if f.status in ("modified", "changed")],
    }


def _commit(forge: Forge, repository: Repository, commit: commits.Commit) -> Json:
    def person(who: commits.Person) -> Json:
        body = {"name": who.name, "email": who.email, "date": who.date.isoformat()}
        known = account(forge.store, who.email)
        return body | ({"username": known.login} if known else {})

    return {
        "id": commit.sha,
        "tree_id": commit.tree,
        "distinct": True,
        "message": commit.message.rstrip("\n"),
        "timestamp": commit.committer.date.isoformat(),
        "url": f"{forge.store.origins.web}/{repository.full_name}/commit/{commit.sha}",
        "author": person(commit.author),
        "committer": person(commit.committer),
        **_changed_paths(repository.git, commit),
    }


def _payload(forge: Forge, repository: Repository, update: Update, by: User) -> Json:
    """The `push` event. Its repository has moments as numbers, unlike everywhere else."""
    git = repository.git
    page = f"{forge.store.origins.web}/{repository.full_name}"
    created, deleted = update.old == ZERO, update.new == ZERO
    shas: list[str] = []
    if not deleted and update.ref.startswith("refs/heads/"):
        exclude = [f"^{update.old}"] if not created else _other_branches(git, update.ref)
        shas = git.text("rev-list", "--topo-order", "--reverse", update.new, *exclude).split()[-MAX_COMMITS:]
    rows = [_commit(forge, repository, commit) for commit in (commits.read_many(git, shas) if shas else [])]
    head = None
    if not deleted:
        commit = git.resolve(update.new)
        head = rows[-1] if rows else _commit(forge, repository, commits.read(git, commit)) if commit else None
    return {
        "ref": update.ref,
        "before": update.old,
        "after": update.new,
        "repository": {
            "created_at": int(repository.created_at.timestamp()),
            "pushed_at": int(repository.pushed_at.timestamp()),
            "stargazers": 0,
            "master_branch": repository.default_branch,
        },
        "pusher": {"name": by.login, "email": by.email or by.noreply},
        "created": created,
        "deleted": deleted,
        "forced": not created and not deleted and not git.is_ancestor(update.old, update.new),
        "base_ref": None,
        "compare": f"{page}/compare/{update.old[:12]}...{update.new[:12]}",
        "commits": rows,
        "head_commit": head,
    }


def _other_branches(git: GitRepository, ref: str) -> list[str]:
    names = git.text("for-each-ref", "--format=%(refname)", "refs/heads/").split()
    return [f"^{name}" for name in names if name != ref]
