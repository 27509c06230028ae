"""The demo's world: a local GitHub with one repository, two people, the App, and an issue somebody asks us to solve."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from github.emulator import LocalGitHub

OWNER = "acme"
PERSON = "alice"
HERE = Path(__file__).parent
ISSUE = """Add a conversion to kelvin

Please add a function `celsius_to_kelvin` to degrees.py, with a test: 0 is 273.15.
"""


class Misuse(ValueError):
    """What the demo was given cannot be used; the message says why and what would do."""


@dataclass(frozen=True)
class World:
    """Where things are. `default_head` is the default branch's commit before anything happened, None without one."""

    local: LocalGitHub
    repository: str
    default_branch: str
    default_head: str | None
    person_token: str


def prepare_source(repo: Path | None, folder: Path) -> Path:
    """A Git repository to serve: the given one, or the demo's own, made in `folder`. Raises Misuse."""
    if repo is not None:
        found = _git(repo, "rev-parse", "--git-dir") if repo.is_dir() else None
        if found is None or found.returncode:
            raise Misuse(f"--repo {repo}: no Git repository there; give a folder with a repository in it")
        return repo.resolve()
    source = folder / "degrees"
    _copy(HERE / "repository", source)
    for command in (
        ["init", "-q", "-b", "main"],
        ["add", "-A"],
        ["-c", "user.name=Alice", "-c", "user.email=alice@example.com", "commit", "-q", "-m", "Convert temperatures"],
    ):
        done = _git(source, *command)
        if done.returncode:
            raise Misuse(f"git {command[0]} failed in {source}: {done.stderr.strip()}")
    return source


def _copy(source: Path, target: Path) -> None:
    for file in sorted(source.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            copy = target / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())


def _git(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
