"""A turn that runs, its repository at a local GitHub, and git on the box's side of the gateway."""

import asyncio
import base64
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from cryptography.fernet import Fernet
from sqlalchemy import update

from app.process.wiring import open_web
from app.settings import Settings
from app.web.state import AppState
from github.emulator import LocalGitHub
from loops.store.migrations import upgrade
from loops.store.tables import Repository, Session, Turn
from tests.app.boxside import seed, token_of_turn
from tests.app.serving import Served, serving_both

REPOSITORY = "acme/widgets"
OTHERS = ("acme/vault", "acme/lib")


@dataclass
class Checkout:
    """`folder` is the tests' own; `token` the turn's."""

    local: LocalGitHub
    shared: AppState
    served: Served
    folder: Path
    sha: str

    @property
    def token(self) -> str:
        return token_of_turn(self.shared)

    def url(self, repository: str = REPOSITORY, turn: str = "t_1") -> str:
        return f"{self.served.boxes}/turns/{turn}/git/{repository}.git"

    async def git(self, *arguments: str, token: str | None = None) -> "subprocess.CompletedProcess[str]":
        """Run git as the runner does: the token in a header that is sent at once."""
        login = base64.b64encode(f"x-access-token:{token or self.token}".encode()).decode()
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{self.served.boxes}/.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {login}",
        }
        return await asyncio.to_thread(
            subprocess.run, ["git", *arguments], cwd=self.folder, env=env, capture_output=True, text=True, check=False
        )

    def http(self, token: str | None = None) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {token or self.token}"}
        return httpx.AsyncClient(base_url=self.served.boxes, headers=headers, timeout=60)

    async def change(self, **values: Any) -> None:
        async with self.shared.database.write() as tx:
            await tx.execute(update(Turn).values(**values))


@contextlib.asynccontextmanager
async def checkout(folder: Path, redis_url: str, size: int = 200_000, **settings: Any) -> AsyncIterator[Checkout]:
    """`acme/widgets`, with a file of `size` bytes, is the turn's; the App is installed on `acme/vault` and
    `acme/lib` as well."""
    local = LocalGitHub(folder / "github")
    await local.start()
    try:
        source = folder / "source"
        source.mkdir()
        (source / "value.txt").write_text("right\n" * 2_000)
        (source / "data.bin").write_bytes(os.urandom(size))
        local.add_user("acme")
        row = local.add_repository(REPOSITORY, from_dir=source)
        others = [local.add_repository(name) for name in OTHERS]
        installation = local.install("acme", [REPOSITORY, *OTHERS]).id
        given = Settings(
            data=folder / "data",
            database_url=f"sqlite:///{folder}/greenloop.db",
            redis_url=redis_url,
            app_id=local.app.id,
            app_private_key=local.app.private_key,
            webhook_secrets="secret-of-the-webhook",
            encryption_keys=Fernet.generate_key().decode(),
            github_api_url=local.api_url,
            github_web_url=local.web_url,
            **settings,
        )
        await upgrade(given.database)
        app = open_web(given, redis_url)
        async with serving_both(app) as served:
            shared: AppState = app.state.shared
            await seed(shared, status="running")
            found = Checkout(local, shared, served, folder, "")
            about = {"id": row.id, "full_name": REPOSITORY, "sha": "1" * 40, "ref": "refs/heads/main", "branch": "x"}
            await found.change(spec={"repository": about, "workdir": "w", "argv": ["x"]})
            async with shared.database.write() as tx:
                await tx.execute(update(Session).values(installation_id=installation))
                for other in others:
                    known = {"default_branch": "main", "private": True, "updated_at": 0, "full_name": other.full_name}
                    tx.add(Repository(id=other.id, installation_id=installation, **known))
            yield found
    finally:
        await local.stop()
