"""Repositories: made, renamed, archived, transferred, forked, deleted."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from github.emulator.acts.installations import repository_lost
from github.emulator.api.errors import invalid
from github.emulator.git import refs
from github.emulator.git.repository import GitRepository
from github.emulator.hooks.emit import emit
from github.emulator.store.repositories import Repository
from github.emulator.store.users import User
from github.emulator.views import users

if TYPE_CHECKING:
    from github.emulator.hub import Hub

Json = dict[str, Any]


def created(
    hub: "Hub",
    owner: User,
    name: str,
    default_branch: str,
    private: bool = True,
    source: Path | None = None,
    parent: Repository | None = None,
) -> Repository:
    """A new repository, empty or with the branches and tags of the git repository at `source`."""
    now = hub.clock.now()
    row_id = hub.store.repositories.new_id()
    git = GitRepository(hub.data / "repositories" / f"{row_id}.git")
    git.create(default_branch)
    if source is not None:
        git.import_from(source)
    row = Repository(row_id, owner, name, git, default_branch, now, now, now, private=private, parent=parent)
    hub.store.repositories.add(row)
    emit(hub, "repository", "created", {}, row, owner)
    return row


def forked(hub: "Hub", parent: Repository, by: User, name: str | None = None) -> Repository:
    """The person's fork; the one there is, if there is one. A fork has the visibility of its parent."""
    for row in hub.store.repositories:
        if row.parent is parent and row.owner is by and not row.deleted:
            return row
    return created(hub, by, name or parent.name, parent.default_branch, parent.private, parent.git.path, parent)


def renamed(hub: "Hub", row: Repository, name: str, by: User) -> None:
    """The old name goes on answering with a redirect."""
    before = row.name
    hub.store.renames[row.full_name.lower()] = row.id
    row.name = name
    hub.store.renames.pop(row.full_name.lower(), None)
    emit(hub, "repository", "renamed", {"changes": {"repository": {"name": {"from": before}}}}, row, by)


def transferred(hub: "Hub", row: Repository, owner: User, by: User) -> None:
    """Installations of the old owner lose it; those of the new owner that take all gain it."""
    before = row.owner
    for installation in list(hub.store.installations):
        if row in hub.store.repositories_of(installation):
            repository_lost(hub, installation, row, by)
    hub.store.renames[row.full_name.lower()] = row.id
    row.owner = owner
    kind = "organization" if before.type == "Organization" else "user"
    changes = {"owner": {"from": {kind: users.simple(hub, before)}}}
    emit(hub, "repository", "transferred", {"changes": changes}, row, by)


def archived(hub: "Hub", row: Repository, on: bool, by: User) -> None:
    if row.archived != on:
        row.archived = on
        emit(hub, "repository", "archived" if on else "unarchived", {}, row, by)


def deleted(hub: "Hub", row: Repository, by: User) -> None:
    """Gone, also from disk. Pull requests from it lose their head repository."""
    emit(hub, "repository", "deleted", {}, row, by)
    row.deleted = True
    for pull in hub.store.pulls:
        if pull.head_repository is row and pull.repository is not row:
            pull.head_repository = None
    hub.store.repositories.remove(row)
    shutil.rmtree(row.git.path, ignore_errors=True)


def changed(hub: "Hub", row: Repository, by: User, wanted: Json) -> None:
    """The settings of `PATCH /repos/{owner}/{repo}` that are kept here."""
    branch = wanted.get("default_branch")
    if branch is not None and branch != row.default_branch:
        if refs.sha_of(row.git, f"refs/heads/{branch}") is None:
            raise invalid("Repository", "default_branch", message=f"The branch {branch} was not found.")
        before, row.default_branch = row.default_branch, branch
        row.git.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")
        emit(hub, "repository", "edited", {"changes": {"default_branch": {"from": before}}}, row, by)
    for key in ("has_issues", "allow_auto_merge", "allow_update_branch", "delete_branch_on_merge", "description"):
        if key in wanted:
            setattr(row, key, wanted[key])
    if "private" in wanted and bool(wanted["private"]) != row.private:
        row.private = bool(wanted["private"])
        emit(hub, "repository", "privatized" if row.private else "publicized", {}, row, by)
    if "archived" in wanted:
        archived(hub, row, bool(wanted["archived"]), by)
    if wanted.get("name") and wanted["name"] != row.name:
        renamed(hub, row, wanted["name"], by)
    row.updated_at = hub.clock.now()
