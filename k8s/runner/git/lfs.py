"""Git LFS without its program: a file goes into the tree as its pointer, as `git lfs clean` would write it.

https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from .command import Git

POINTER_BYTES = 1024  # a pointer is smaller
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[0-9]-[a-z0-9]{1,32} sha256:[0-9a-f]{64}\n){0,10}"
    rb"oid sha256:[0-9a-f]{64}\nsize [0-9]{1,18}\n"
)


def stage(git: Git, files: Mapping[bytes, tuple[str, bytes]]) -> dict[str, str]:
    """Put `files` (path -> mode, content) into the index as pointers: the pointer's blob -> the blob with the content.

    A file that is a pointer already is its own content: it was not downloaded, and goes in as it is.
    """
    contents: dict[str, str] = {}
    entries = []
    for path, (mode, content) in files.items():
        pointer = _pointer(content)
        kept = _stored(git, content)
        sha = _stored(git, pointer) if pointer else kept
        if content:
            # an empty file has neither pointer nor object
            contents[sha] = kept
        entries.append(b"%s %s\t%s\0" % (mode.encode(), sha.encode(), path))
    if entries:
        git.run("update-index", "--add", "--replace", "-z", "--index-info", stdin=b"".join(entries))
    return contents


def _stored(git: Git, content: bytes) -> str:
    return git.run("hash-object", "-w", "--stdin", stdin=content).decode().strip()


def _pointer(content: bytes) -> bytes:
    """The pointer to be written for a file; nothing where it goes in as it is."""
    if not content or (len(content) < POINTER_BYTES and _POINTER.fullmatch(content)):
        return b""
    digest = hashlib.sha256(content).hexdigest()
    return b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (digest.encode(), len(content))
