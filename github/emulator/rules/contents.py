"""Ruleset rules about the files that commits bring: their paths, endings, lengths and sizes."""

from collections.abc import Iterable, Iterator
from typing import Any

from github.emulator.git.commits import Commit
from github.emulator.git.repository import GitRepository
from github.emulator.rules.paths import fits_path

KINDS = ("file_path_restriction", "file_extension_restriction", "max_file_path_length", "max_file_size")
MEGABYTE = 1024 * 1024


def broken_by_files(git: GitRepository, kind: str, wanted: dict[str, Any], new: Iterable[Commit]) -> str | None:
    """The sentence of a broken rule of these kinds, or None. `max_file_size` is in megabytes."""
    if kind not in KINDS:
        return None
    for commit in new:
        for path, sha in _written(git, commit):
            if text := _broken(git, kind, wanted, path, sha):
                return text
    return None


def _broken(git: GitRepository, kind: str, wanted: dict[str, Any], path: str, sha: str) -> str | None:
    if kind == "file_path_restriction":
        hit = any(fits_path(pattern, path) for pattern in wanted["restricted_file_paths"])
        return f"Changes to {path} are restricted." if hit else None
    if kind == "file_extension_restriction":
        hit = path.lower().endswith(tuple(end.lstrip("*").lower() for end in wanted["restricted_file_extensions"]))
        return f"File extension of {path} is restricted." if hit else None
    if kind == "max_file_path_length":
        most = int(wanted["max_file_path_length"])
        return f"File path {path} is longer than {most} characters." if len(path) > most else None
    most = int(wanted["max_file_size"])
    size = int(git.text("cat-file", "-s", sha))
    return f"File {path} is larger than {most} MB." if size > most * MEGABYTE else None


def _written(git: GitRepository, commit: Commit) -> Iterator[tuple[str, str]]:
    """Path and blob of what a commit adds or changes."""
    flags = ["-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--diff-filter=AMT", "--no-commit-id", "--root", "-m"]
    fields = git.run("diff-tree", *flags, commit.sha).split(b"\0")[:-1]
    for meta, name in zip(fields[::2], fields[1::2], strict=True):
        _, mode, _, sha, _ = meta.decode().lstrip(":").split(" ")
        if mode != "160000":
            yield name.decode(errors="replace"), sha
