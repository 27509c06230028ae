"""Repositories: made, renamed, archived, transferred, forked, deleted."""

import shutil
from pathlib import Path
from typing import Any

from github.emulator.acts.installations import repository_lost
from github.emulator.errors import invalid
from github.emulator.forge import Forge
from github.emulator.git import refs
from github.emulator.git.repository import GitRepository
from github.emulator.store.repositories import Repository
from github.emulator.store.users import User
from github.emulator.views import users

Json = dict[str, Any]


def created(
    forge: Forge,
    owner: User,
    name: str,
    default_branch: str,
    private: bool = True,
    source: Path | None = None,
    parent: Repository | None = None,
) -> Repository:
    """A new repository, empty or with the branches and tags of the git repository at `source`."""
    now = forge.now()
    row_id = forge.store.repositories.new_id()
    git = GitRepository(forge.store.folder / "repositories" / f"{row_id}.git")
    git.create(default_branch)
    if source is not None:
        git.import_from(source)
    row = Repository(row_id, owner, name, git, default_branch, now, now, now, private=private, parent=parent)
    forge.store.repositories.add(row)
    forge.emit("repository", "created", {}, row, owner)
    return row


def forked(forge: Forge, parent: Repository, by: User, name: str | None = None) -> Repository:
    """The person's fork; the one there is, if there is one. A fork has the visibility of its parent."""
    for row in forge.store.repositories:
        if row.parent is parent and row.owner is by and not row.deleted:
            return row
    return created(forge, by, name or parent.name, parent.default_branch, parent.private, parent.git.path, parent)


def renamed(forge: Forge, row: Repository, name: str, by: User) -> None:
    """The old name goes on answering with a redirect."""
    before = row.name
    forge.store.renames[row.full_name.lower()] = row.id
    row.name = name
    forge.store.renames.pop(row.full_name.lower(), None)
    forge.emit("repository", "renamed", {"changes": {"repository": {"name": {"from": before}}}}, row, by)


def transferred(forge: Forge, row: Repository, owner: User, by: User) -> None:
    """Installations of the old owner lose it; those of the new owner that take all gain it."""
    before = row.owner
    for installation in list(forge.store.installations):
        if row in forge.store.repositories_of(installation):
            repository_lost(forge, installation, row, by)
    forge.store.renames[row.full_name.lower()] = row.id
    row.owner = owner
    kind = "organization" if before.type == "Organization" else "user"
    changes = {"owner": {"from": {kind: users.simple(forge.store, before)}}}
    forge.emit("repository", "transferred", {"changes": changes}, row, by)


def archived(forge: Forge, row: Repository, on: bool, by: User) -> None:
    if row.archived != on:
        row.archived = on
        forge.emit("repository", "archived" if on else "unarchived", {}, row, by)


def deleted(forge: Forge, row: Repository, by: User) -> None:
    """Gone, also from disk. Pull requests from it lose their head repository."""
    forge.emit("repository", "deleted", {}, row, by)
    row.deleted = True
    for pull in forge.store.pulls:
        if pull.head_repository is row and pull.repository is not row:
            pull.head_repository = None
    forge.store.repositories.remove(row)
    shutil.rmtree(row.git.path, ignore_errors=True)


def changed(forge: Forge, row: Repository, by: User, wanted: Json) -> None:
    """The settings of `PATCH /repos/{owner}/{repo}` that are kept here."""
    branch = wanted.get("default_branch")
    if branch is not None and branch != row.default_branch:
        if refs.sha_of(row.git, f"refs/heads/{branch}") is None:
            raise invalid("Repository", "default_branch", message=f"The branch {branch} was not found.")
        before, row.default_branch = row.default_branch, branch
        row.git.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")
        forge.emit("repository", "edited", {"changes": {"default_branch": {"from": before}}}, row, by)
    for key in ("has_issues", "allow_auto_merge", "allow_update_branch", "delete_branch_on_merge", "description"):
        if key in wanted:
            setattr(row, key, wanted[key])
    if "private" in wanted and bool(wanted["private"]) != row.private:
        row.private = bool(wanted["private"])
        forge.emit("repository", "privatized" if row.private else "publicized", {}, row, by)
    if "archived" in wanted:
        archived(forge, row, bool(wanted["archived"]), by)
    if wanted.get("name") and wanted["name"] != row.name:
        renamed(forge, row, wanted["name"], by)
    row.updated_at = forge.now()
