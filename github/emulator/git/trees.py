"""Building trees out of entries on top of another tree."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from github.emulator.git.repository import EMPTY_TREE, ZERO, GitError, GitRepository


class BadTree(Exception):
    """The entries make no tree; the text is GitHub's."""


@dataclass(frozen=True)
class Entry:
    """One wanted entry. `sha` None with `content` None removes the path."""

    path: str
    mode: str
    sha: str | None
    content: bytes | None = None


def _contents(git: GitRepository, entries: list[Entry], folder: Path) -> dict[str, str]:
    """Store the contents given inline, all in one git process: path to blob sha."""
    inline = [entry for entry in entries if entry.content is not None]
    names = []
    for index, entry in enumerate(inline):
        file = folder / str(index)
        file.write_bytes(entry.content or b"")
        names.append(str(file))
    if not names:
        return {}
    shas = git.text("hash-object", "-w", "--no-filters", "--stdin-paths", data="\n".join(names).encode()).split()
    return {entry.path: sha for entry, sha in zip(inline, shas, strict=True)}


def build(git: GitRepository, entries: list[Entry], base: str | None) -> str:
    """Write the tree and say its sha. Raises `BadTree` for objects that do not exist or paths that cannot be."""
    with tempfile.TemporaryDirectory(prefix="tree-") as name:
        folder = Path(name)
        env = {"GIT_INDEX_FILE": str(folder / "index")}
        blobs = _contents(git, entries, folder)
        git.run("read-tree", *([base] if base else ["--empty"]), env=env)
        lines: list[bytes] = []
        if len({entry.path for entry in entries}) < len(entries):
            raise BadTree("GitRPC::BadObjectState")
        for entry in entries:
            path = entry.path.encode(errors="surrogateescape")
            sha = blobs.get(entry.path, entry.sha)
            if sha is None or entry.mode == "040000":
                inside = git.run("ls-files", "-z", "--", f":(literal){entry.path}", env=env)
                if sha is None and not inside:  # nothing is there to be removed
                    raise BadTree("GitRPC::BadObjectState")
                lines += [b"0 " + ZERO.encode() + b"\t" + old for old in inside.split(b"\0")[:-1]]
            if sha is not None and entry.mode != "040000":
                lines.append(f"{entry.mode} {sha}\t".encode() + path)
            if sha is not None and entry.mode == "040000":
                below = git.run("ls-tree", "-r", "-z", sha).split(b"\0")[:-1]
                for line in below:
                    meta, _, rest = line.partition(b"\t")
                    mode, _, blob = meta.split(b" ")
                    lines.append(mode + b" " + blob + b"\t" + path + b"/" + rest)
        try:
            git.run("update-index", "--replace", "-z", "--index-info", data=b"".join(x + b"\0" for x in lines), env=env)
            made = git.run("write-tree", env=env).decode().strip()
        except GitError as error:
            if "invalid object" in error.text or "building trees" in error.text:
                raise BadTree("GitRPC::BadObjectState") from error
            raise BadTree("tree contains a path that is not valid: " + error.text.strip()) from error
    if made == EMPTY_TREE:
        raise BadTree("GitRPC::BadObjectState")
    return made
