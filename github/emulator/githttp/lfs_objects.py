"""The LFS objects that a push needs."""

import re

from github.emulator import blobs
from github.emulator.git.refs import Update
from github.emulator.git.repository import ZERO, GitRepository
from github.emulator.store.repositories import Repository
from github.emulator.store.store import Store


def missing(store: Store, repository: Repository, update: Update) -> list[str]:
    """The objects that the pointers of a push name and nobody has put here."""
    return [
        oid
        for oid in _named(repository.git, update)
        if not blobs.file_of(store, blobs.lfs_path(repository, oid)).is_file()
    ]


def _named(git: GitRepository, update: Update) -> list[str]:
    if update.new == ZERO:
        return []
    listing = git.text("rev-list", "--objects", "--filter=blob:limit=1k", update.new, "--not", "--all")
    shas = [line.split(" ")[0] for line in listing.splitlines() if " " in line]
    if not shas:
        return []
    contents = git.run("cat-file", "--batch", data="".join(f"{sha}\n" for sha in shas).encode())
    pointer = rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n"
    return sorted({oid.decode() for oid in re.findall(pointer, contents)})
