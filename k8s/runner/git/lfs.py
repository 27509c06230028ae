"""Git LFS without its program: a file goes into the tree as its pointer, as `git lfs clean` would write it.

https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

from .command import Git

POINTER_BYTES = 1024  # a pointer is smaller
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[0-9]-[a-z0-9]{1,32} sha256:[0-9a-f]{64}\n){0,10}"
    rb"oid sha256:[0-9a-f]{64}\nsize [0-9]{1,18}\n"
)
_PIECE = 1024 * 1024


def stage(git: Git, paths: Iterable[bytes]) -> dict[str, str]:
    """Put the files `paths` into the index as pointers: the pointer's blob -> the blob with the content.

    A file that is a pointer already is its own content: it was not downloaded, and goes in as it is.
    """
    assert git.work_tree is not None  # noqa: S101 - the caller's mistake, not data
    contents: dict[str, str] = {}
    entries = []
    for path in paths:
        whole = git.work_tree / os.fsdecode(path)
        pointer = _pointer(whole)
        content = git.run("hash-object", "-w", "--no-filters", "--", str(whole)).decode().strip()
        sha = git.run("hash-object", "-w", "--stdin", stdin=pointer).decode().strip() if pointer else content
        if whole.stat().st_size:
            # an empty file has neither pointer nor object
            contents[sha] = content
        mode = b"100755" if whole.stat().st_mode & 0o100 else b"100644"
        entries.append(b"%s %s\t%s\0" % (mode, sha.encode(), path))
    if entries:
        git.run("update-index", "--add", "--replace", "-z", "--index-info", stdin=b"".join(entries))
    return contents


def _pointer(file: Path) -> bytes:
    """The pointer to be written for `file`; nothing where the file goes in as it is."""
    digest, size = hashlib.sha256(), 0
    with file.open("rb") as handle:
        head = handle.read(POINTER_BYTES)
        if not head or (len(head) < POINTER_BYTES and _POINTER.fullmatch(head)):
            return b""
        piece = head
        while piece:
            digest.update(piece)
            size += len(piece)
            piece = handle.read(_PIECE)
    return b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (digest.hexdigest().encode(), size)
