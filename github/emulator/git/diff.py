"""Differences between two commits, per file, as GitHub shows them."""

from dataclasses import dataclass

from github.emulator.git.repository import GitRepository

STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}
MAX_PATCH = 100_000
MAX_DIFF_FILES, MAX_DIFF_LINES = 300, 20_000


@dataclass(frozen=True)
class FileChange:
    """One file. `patch` is None for binary files and for what is too large to show."""

    path: str
    previous: str | None
    status: str
    sha: str | None
    additions: int
    deletions: int
    patch: str | None


def changes(git: GitRepository, old: str, new: str) -> list[FileChange]:
    """The files that differ between two trees or commits. GitHub's limit of files is the caller's matter."""
    raw = git.run("diff", "-M", "--no-abbrev", "--raw", "-z", old, new, "--").split(b"\0")[:-1]
    numbers = git.run("diff", "-M", "--numstat", "-z", old, new, "--").split(b"\0")[:-1]
    patches = _patches(git, old, new)
    found: list[FileChange] = []
    at = number_at = 0
    while at < len(raw):
        _, _, old_sha, new_sha, letter = raw[at].decode().lstrip(":").split(" ")
        renamed = letter[0] in "RC"
        names = [name.decode(errors="replace") for name in raw[at + 1 : at + (3 if renamed else 2)]]
        added, deleted, _ = numbers[number_at].split(b"\t", 2)
        at += 3 if renamed else 2
        number_at += 3 if renamed else 1
        found.append(
            FileChange(
                path=names[-1],
                previous=names[0] if renamed else None,
                status=STATUS.get(letter[0], "changed"),
                sha=old_sha if letter[0] == "D" else new_sha,
                additions=0 if added == b"-" else int(added),
                deletions=0 if deleted == b"-" else int(deleted),
                patch=patches[len(found)] if len(found) < len(patches) else None,
            )
        )
    return found


def _patches(git: GitRepository, old: str, new: str) -> list[str | None]:
    """The hunks of each file, in the order of the raw listing."""
    text = git.run("diff", "-M", "--no-color", "--no-ext-diff", "--patch", old, new, "--").decode(errors="replace")
    parts: list[list[str]] = []
    for line in text.split("\n"):
        if line.startswith("diff --git "):
            parts.append([])
        elif parts:
            parts[-1].append(line)
    found: list[str | None] = []
    for lines in parts:
        start = next((i for i, line in enumerate(lines) if line.startswith("@@ ")), None)
        patch = None if start is None else "\n".join(lines[start:]).rstrip("\n")
        found.append(patch if patch is None or len(patch) <= MAX_PATCH else None)
    return found


class DiffTooLarge(Exception):
    """The difference is more than the API gives as text; the message is GitHub's."""


def limited(git: GitRepository, old: str, new: str) -> str:
    """`unified`, within GitHub's limits. Raises `DiffTooLarge`."""
    files = git.run("diff", "-M", "--name-only", "-z", old, new, "--").count(b"\0")
    if files > MAX_DIFF_FILES:
        text = "Consider using 'List pull requests files' API or locally cloning the repository instead."
        raise DiffTooLarge(f"Sorry, the diff exceeded the maximum number of files ({MAX_DIFF_FILES}). {text}")
    text = unified(git, old, new)
    if text.count("\n") > MAX_DIFF_LINES:
        raise DiffTooLarge(f"Sorry, the diff exceeded the maximum number of lines ({MAX_DIFF_LINES})")
    return text


def unified(git: GitRepository, old: str, new: str) -> str:
    """The whole difference as one text, for people and for `application/vnd.github.diff`."""
    return git.run("diff", "-M", "--no-color", old, new, "--").decode(errors="replace")
