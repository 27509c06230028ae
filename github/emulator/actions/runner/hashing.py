"""`hashFiles` of workflow files."""

import hashlib
from pathlib import Path
from typing import Any

from github.workflows import globs
from github.workflows.expressions import as_text


def hash_files(folder: Path, *patterns: Any) -> str:
    """The SHA-256 over those of all files that a pattern fits, in the order of their paths; empty where none does."""
    wanted = [
        line.strip().removeprefix("./") for text in patterns for line in as_text(text).split("\n") if line.strip()
    ]
    whole, found = hashlib.sha256(), False
    for path in sorted(file for file in folder.rglob("*") if file.is_file() and ".git" not in file.parts):
        if globs.matches(wanted, str(path.relative_to(folder))):
            whole.update(hashlib.sha256(path.read_bytes()).digest())
            found = True
    return whole.hexdigest() if found else ""
