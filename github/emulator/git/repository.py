"""One bare repository, driven by git's plumbing."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ZERO = "0" * 40
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


class GitError(Exception):
    """git said no. `text` is its stderr."""

    def __init__(self, args: tuple[str, ...], code: int, text: str) -> None:
        super().__init__(f"git {' '.join(args)} exited {code}: {text.strip()}")
        self.code = code
        self.text = text


def clean_environment() -> dict[str, str]:
    """An environment in which no configuration of the machine or the user reaches git."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "GitHub",
        "GIT_AUTHOR_EMAIL": "noreply@github.com",
        "GIT_COMMITTER_NAME": "GitHub",
        "GIT_COMMITTER_EMAIL": "noreply@github.com",
    }


@dataclass(frozen=True)
class TreeEntry:
    mode: str
    kind: str
    sha: str
    size: int | None
    path: str


class GitRepository:
    """A bare repository at `path`. Methods raise `GitError` when git refuses, unless they say otherwise."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, *args: str, data: bytes | None = None, env: Mapping[str, str] | None = None) -> bytes:
        """git's stdout, as bytes."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.path,
            input=data if data is not None else b"",
            capture_output=True,
            env=clean_environment() | {"GIT_DIR": str(self.path)} | dict(env or {}),
            check=False,
        )
        if done.returncode:
            raise GitError(args, done.returncode, done.stderr.decode(errors="replace"))
        return done.stdout

    def text(self, *args: str, data: bytes | None = None) -> str:
        return self.run(*args, data=data).decode(errors="replace").strip()

    def holds(self, *args: str) -> bool:
        """Whether the command exits 0."""
        try:
            self.run(*args)
        except GitError:
            return False
        return True

    def create(self, default_branch: str) -> None:
        """Make the bare repository on disk, with the settings under which GitHub serves one."""
        self.path.mkdir(parents=True)
        self.run("init", "--quiet", "--bare", f"--initial-branch={default_branch}", str(self.path))
        settings = {
            "http.receivepack": "true",
            "receive.procReceiveRefs": "refs/",
            "receive.autogc": "false",
            "gc.auto": "0",
            "core.logAllRefUpdates": "false",
            "uploadpack.allowFilter": "true",
            "uploadpack.allowAnySHA1InWant": "true",
        }
        with (self.path / "config").open("a") as config:
            for key, value in settings.items():
                section, name = key.split(".")
                config.write(f"[{section}]\n\t{name} = {value}\n")

    def import_from(self, source: Path) -> None:
        """Copy the branches and tags of another repository."""
        self.run("fetch", "--quiet", str(source), "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")

    def fetch_object(self, source: "GitRepository", sha: str) -> None:
        """Bring a commit of another repository of ours here, without a ref."""
        if not self.has(sha):
            self.run("fetch", "--quiet", "--no-tags", str(source.path), sha)

    @property
    def empty(self) -> bool:
        return not self.text("for-each-ref", "--count=1", "--format=%(objectname)")

    def has(self, sha: str) -> bool:
        return self.holds("cat-file", "-e", sha)

    def kind(self, sha: str) -> str | None:
        """blob, tree, commit or tag; None when there is no such object."""
        try:
            return self.text("cat-file", "-t", sha)
        except GitError:
            return None

    def resolve(self, name: str) -> str | None:
        """The commit of a sha, branch, tag or full ref; None when there is none. Branches win, as on GitHub."""
        if not name or name.startswith("-"):
            return None
        for candidate in (f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}", name):
            try:
                return self.text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{candidate}^{{commit}}")
            except GitError:
                continue
        return None

    def read(self, sha: str) -> bytes:
        return self.run("cat-file", self.text("cat-file", "-t", sha), sha)

    def write(self, kind: str, data: bytes) -> str:
        """Store an object and say its sha. git checks trees and commits for form."""
        return self.text("hash-object", "-t", kind, "-w", "--stdin", data=data)

    def tree(self, treeish: str, recursive: bool = False) -> list[TreeEntry]:
        """The entries of a tree; recursive ones include the trees themselves, as GitHub lists them."""
        flags = ["-r", "-t"] if recursive else []
        listing = self.run("ls-tree", "-z", "-l", *flags, treeish)
        entries = []
        for line in listing.split(b"\0")[:-1]:
            meta, _, path = line.partition(b"\t")
            mode, kind, sha, size = meta.decode().split()
            entries.append(
                TreeEntry(mode, kind, sha, None if size == "-" else int(size), path.decode("utf-8", "surrogateescape"))
            )
        return entries

    def entry(self, commit: str, path: str) -> TreeEntry | None:
        """The entry at `path`, or None."""
        try:
            listing = self.run("ls-tree", "-z", "-l", commit, "--", f":(literal){path}")
        except GitError:
            return None
        for line in listing.split(b"\0")[:-1]:
            meta, _, name = line.partition(b"\t")
            mode, kind, sha, size = meta.decode().split()
            return TreeEntry(mode, kind, sha, None if size == "-" else int(size), name.decode(errors="surrogateescape"))
        return None

    def is_ancestor(self, older: str, newer: str) -> bool:
        return self.holds("merge-base", "--is-ancestor", older, newer)

    def merge_base(self, one: str, other: str) -> str | None:
        try:
            return self.text("merge-base", one, other)
        except GitError:
            return None

    def count(self, span: str) -> int:
        return int(self.text("rev-list", "--count", span))

    def shas(self, span: str, limit: int | None = None, newest_first: bool = False) -> list[str]:
        """Commits of a span `a..b`, oldest first unless told otherwise."""
        flags = [] if newest_first else ["--reverse"]
        found = self.text("rev-list", "--topo-order", *flags, span).split()
        return found if limit is None else found[:limit]

    def merge_tree(self, ours: str, theirs: str) -> str | None:
        """The tree of a merge of two commits, or None when they conflict."""
        try:
            return self.text("merge-tree", "--write-tree", "--allow-unrelated-histories", ours, theirs).split("\n")[0]
        except GitError as error:
            if error.code == 1:
                return None
            raise
