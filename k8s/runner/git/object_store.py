"""The objects of one repository, kept on the home volume between turns, and the one fetch that adds to them.

The fetch is the only moment at which a token exists in the box: in the memory of this process and in the environment
of that one git, neither in a file nor in an argument. Agents read the objects and write nothing here; where a box has
no walls they could, and so the directory is put back before each use to what we made of it: configuration that an agent
leaves must not send a token elsewhere.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..processes import process_tree
from ..protocol import FetchToken, TurnRepository
from ..state import Home, lock, remove_tree, sign
from .command import Git, GitError, make_private

OURS = frozenset(("HEAD", "config", "objects", "refs", "shallow", "packed-refs"))
TRIES = (0.0, 1.0, 2.0, 4.0)
"""Pauses before each try: a token that GitHub has just minted may be refused for seconds."""

PACKS_BEFORE_REPACK = 40
REFS_KEPT = 20


class FetchFailed(Exception):
    """The commit could not be had; `str()` says why in words."""


class Store:
    """What we hold of one repository."""

    def __init__(self, home: Home, repository: TurnRepository, tick: Callable[[], None] | None = None) -> None:
        self.path = home.repos / str(repository.id)
        self.objects = self.path / "objects"
        self.shallow = self.path / "shallow"
        self._repository = repository
        self._lock = home.locks / f"{repository.id}.lock"
        self._tick = tick
        # an agent's git borrows from here, as another user
        self._git = Git(self.path, tick=tick, umask=0o022)

    @contextmanager
    def using(self) -> Iterator[None]:
        """Have the store to ourselves, in the state that we left it in."""
        descriptor = lock(self._lock, wait=True)
        try:
            if os.pread(descriptor, 1, 0):
                self._tidy_after_a_crash()
            sign(descriptor)
            self.restore()
            yield
            os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    def _tidy_after_a_crash(self) -> None:
        """Whoever was here was killed: end the git that may still be at work, and take its locks away."""
        entry = f"GIT_DIR={self.path}".encode()
        process_tree.sweep(roots=(), also=lambda found: process_tree.carries(found.pid, entry))
        for left in (*self.path.rglob("*.lock"), *self.objects.rglob("tmp_*")):
            left.unlink(missing_ok=True)

    def restore(self) -> None:
        """Put the directory back to what we made of it, or make it."""
        if self.path.is_symlink() or not (self.path / "objects").is_dir() or (self.path / "objects").is_symlink():
            remove_tree(self.path)
        if self.path.is_dir():
            for entry in self.path.iterdir():
                if entry.name not in OURS or entry.is_symlink():
                    remove_tree(entry)
            (self.objects / "info" / "alternates").unlink(missing_ok=True)
        make_private(self.path)

    def begin_anew(self) -> None:
        """Throw away a store that turned out to be broken."""
        remove_tree(self.path)
        self.restore()

    def is_sound(self) -> bool:
        """Whether all that was fetched before is still there and readable, as far as that takes no look into files."""
        return self._git.attempt("rev-list", "--objects", "--all", "--quiet")[0] == 0

    def wanted(self) -> list[str]:
        """The commits that the turn needs."""
        merge = self._repository.merge
        return [self._repository.sha, *([merge.sha] if merge else [])]

    def has_all(self) -> bool:
        """Whether a fetch of ours has brought all commits that the turn needs."""
        return all((self.path / "refs" / "greenloop" / sha).is_file() for sha in self.wanted())

    def fetch(self, token: FetchToken) -> None:
        """Fetch what the turn needs, shallow. Raises `FetchFailed`; the token stands nowhere afterwards."""
        login = base64.b64encode(f"{token.username}:{token.token}".encode()).decode()
        secret = {f"http.{token.url}.extraHeader": f"Authorization: Basic {login}"}
        self._tidy()
        try:
            self._fetch_all(token.url, secret)
        except GitError as error:
            raise FetchFailed(_in_words(str(error), self._repository, (token.token, login))) from None

    def _fetch_all(self, url: str, secret: dict[str, str]) -> None:
        repository = self._repository
        depth = max(1, repository.depth)
        by_sha = [f"+{sha}:refs/greenloop/{sha}" for sha in self.wanted()]
        try:
            self._persist(url, secret, f"--depth={depth}", by_sha)
        except GitError as error:
            if not _unadvertised(str(error)):
                raise
            # a server that hands out only what a branch points at or leads to
            self._by_ref(url, secret, depth)
        if repository.merge and not self._related():
            for deeper in ("--deepen=1000", "--unshallow"):
                self._persist(url, secret, deeper, by_sha)
                if self._related():
                    return

    def _by_ref(self, url: str, secret: dict[str, str], depth: int) -> None:
        repository = self._repository
        merge = repository.merge
        pairs = [(repository.ref, repository.sha), *([(merge.ref, merge.sha)] if merge else [])]
        for ref, sha in pairs:
            self._persist(url, secret, f"--depth={depth}", [f"+{ref}:refs/greenloop/ref"])
            try:
                self._git.run("update-ref", f"refs/greenloop/{sha}", sha)
            except GitError:
                raise FetchFailed(f"The commit {sha[:12]} is not among the last {depth} of {ref}.") from None

    def _persist(self, url: str, secret: dict[str, str], how: str, refspecs: list[str]) -> None:
        for number, pause in enumerate(TRIES):
            self._pause(pause)
            try:
                self._git.run(
                    "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc",
                    "--update-shallow", how, url, *refspecs, secret_config=secret,
                )  # fmt: skip
                return
            except GitError as error:
                if number == len(TRIES) - 1 or error.disk_full or _unadvertised(str(error)):
                    raise

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(min(1.0, seconds))
            if self._tick is not None:
                self._tick()

    def _related(self) -> bool:
        return self._git.attempt("merge-base", *self.wanted())[0] == 0

    def _tidy(self) -> None:
        """Keep the number of packs and of kept commits small, whatever the number of turns."""
        if len(list((self.objects / "pack").glob("*.pack"))) < PACKS_BEFORE_REPACK:
            return
        refs = sorted((self.path / "refs" / "greenloop").iterdir(), key=lambda ref: ref.stat().st_mtime)
        for ref in refs[:-REFS_KEPT]:
            ref.unlink()
        self._git.attempt("repack", "-a", "-d", "-q")


def _unadvertised(said: str) -> bool:
    return "not our ref" in said or "unadvertised object" in said or "couldn't find remote ref" in said


def _in_words(said: str, repository: TurnRepository, secrets: tuple[str, ...]) -> str:
    for secret in secrets:
        said = said.replace(secret, "***")
    lines = [line for line in said.splitlines() if line.strip()]
    told = " ".join(lines[-3:]) or "git said nothing"
    return f"The commit {repository.sha[:12]} of {repository.full_name} could not be fetched: {told}"
