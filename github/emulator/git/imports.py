"""Folders of this machine as the source of a new repository."""

import shutil
import subprocess
from pathlib import Path

from github.emulator.git.repository import clean_environment


def current_branch(folder: Path) -> str | None:
    """The branch a git repository stands on, also when it has no commits."""
    done = subprocess.run(
        ["git", "symbolic-ref", "--short", "HEAD"],
        cwd=folder,
        capture_output=True,
        text=True,
        env=clean_environment(),
        check=False,
    )
    return done.stdout.strip() or None


def as_git_repository(folder: Path, scratch: Path) -> Path:
    """The folder itself when it is a git repository, else a repository made of its files."""
    if (folder / ".git").exists() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir()):
        return folder
    copy = scratch / "copy"
    shutil.copytree(folder, copy, symlinks=True)
    for args in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all", "--force"],
        ["commit", "--quiet", "--allow-empty", "-m", "First commit"],
    ):
        subprocess.run(["git", *args], cwd=copy, env=clean_environment(), check=True, capture_output=True)
    return copy
