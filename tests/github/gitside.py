"""A person at their own Git: clones the local GitHub's repository, commits and pushes."""

import asyncio
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.github.conftest import GIT_ENVIRONMENT, Spot


class Clone:
    """A working copy of Alice's (or `login`'s)."""

    def __init__(self, spot: Spot, folder: Path, login: str = "alice") -> None:
        token = spot.local.user(login).token
        host = spot.local.web_url.removeprefix("http://")
        self.url = f"http://{login}:{token}@{host}/{spot.row.full_name}.git"
        self.folder = folder

    async def git(self, *args: str, check: bool = True) -> str:
        """The output of a git command."""
        done = await asyncio.to_thread(
            subprocess.run,
            ["git", *args],
            cwd=self.folder,
            env={**os.environ, **GIT_ENVIRONMENT},
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(args)}: {done.stderr}")
        return done.stdout.strip()

    async def start(self) -> "Clone":
        self.folder.mkdir(parents=True)
        await self.git("clone", "--quiet", self.url, ".")
        return self

    async def commit(self, files: Mapping[str, str | bytes | None], message: str = "Change") -> str:
        """Write (None: delete) files and commit; the commit's SHA."""
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        await self.git("add", "--all", "--force")
        await self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return await self.git("rev-parse", "HEAD")

    async def push(self, branch: str, *options: str) -> None:
        await self.git("push", "--quiet", *options, "origin", f"HEAD:refs/heads/{branch}")
