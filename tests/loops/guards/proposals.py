"""Proposals as a box would make them, by the real git and the runner's own code."""

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from k8s.runner.protocol import Change
from loops.guards import Finding, Findings, Proposal, examine

Files = Mapping[str, str | bytes | None]


def blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


class Turn:
    """A repository before and after a turn: `before` and `after` are path -> content (None: gone, bytes allowed)."""

    def __init__(self, where: Path, before: Files, after: Files, links: Mapping[str, str] | None = None) -> None:
        self.root = where
        self._git("init", "-q", "-b", "main")
        self._write(before)
        self._git("add", "-A", "-f")
        self._git("commit", "-q", "--allow-empty", "-m", "before")
        self._write(after)
        for path, target in (links or {}).items():
            place = where / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(target)
        self._git("add", "-A", "-f")
        self.before, self.blobs = before, dict[str, bytes]()
        self.changes = list(self._changes())
        self.diff = self._git("diff", "--cached", "-M", "--no-color", "HEAD").decode("utf-8", "replace")

    def _git(self, *words: str) -> bytes:
        settings = (
            "user.name=t",
            "user.email=t@example.com",
            "core.autocrlf=false",
            "core.hooksPath=/dev/null",
            "core.quotePath=false",
        )
        told = ["git", *(word for setting in settings for word in ("-c", setting)), *words]
        return subprocess.run(told, cwd=self.root, check=True, capture_output=True).stdout

    def _write(self, files: Files) -> None:
        for path, content in files.items():
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                place.unlink()
            else:
                place.write_bytes(content.encode() if isinstance(content, str) else content)

    def _changes(self) -> Any:
        records = iter(self._git("diff", "--cached", "--raw", "-z", "-M", "--abbrev=40", "HEAD").decode().split("\0"))
        for head in records:
            if not head:
                return
            old_mode, mode, _, sha, status = head[1:].split()
            path, old = next(records), None
            if status[0] == "R":
                old, path = path, next(records)
            if status[0] == "D":
                yield Change(path, old_mode, None)
                continue
            content = self._git("cat-file", "blob", sha)
            self.blobs[sha] = content
            yield Change(path, mode, sha, len(content), old, b"\0" in content)

    async def content_of(self, sha: str) -> bytes:
        return self.blobs[sha]

    async def base_of(self, path: str) -> bytes | None:
        content = self.before.get(path)
        return content.encode() if isinstance(content, str) else content

    async def found(self, *, base: bool = True, **rules: Any) -> Findings:
        given = {"diff": self.diff, "changes": self.changes, **rules}
        return await examine(Proposal(**given), self.content_of, self.base_of if base else None)


def codes(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.code for finding in findings]
