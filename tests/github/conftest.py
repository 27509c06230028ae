"""The local GitHub, shared by the tests of this room; each has an owner, a repository and an installation."""

import asyncio
import itertools
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from github.client.app import GitHubApp
from github.client.clock import Clock
from github.client.repository import RepositoryHandle
from github.emulator.local import LocalGitHub
from github.emulator.store.installations import Installation

GIT_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "Alice",
    "GIT_AUTHOR_EMAIL": "alice@example.com",
    "GIT_COMMITTER_NAME": "Alice",
    "GIT_COMMITTER_EMAIL": "alice@example.com",
}

_numbers = itertools.count(1)


class TestClock(Clock):
    """A clock whose sleeps take no time. The local GitHub, if given, lives by it too."""

    __test__ = False

    def __init__(self, local: LocalGitHub | None = None, now: float = 1_800_000_000.0) -> None:
        self.local = local
        self.slept: list[float] = []
        self._now = now

    def now(self) -> float:
        return self.local.hub.clock.now().timestamp() if self.local else self._now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        self._now += seconds
        if self.local:
            self.local.hub.clock.advance(seconds)


class Spot:
    """One owner with one repository at the local GitHub. Alice may write there, Bob may read."""

    def __init__(self, local: LocalGitHub, files: Path) -> None:
        self.local = local
        self.owner = f"octo{next(_numbers)}"
        self.name = f"{self.owner}/app"
        local.add_repository(self.name, files)
        local.set_permission(self.name, "alice", "write")
        local.set_permission(self.name, "bob", "read")
        self.row = local.repository(self.name)
        self.installation: Installation = local.install(self.owner, ["app"])

    async def act(self, login: str, method: str, path: str, **body: Any) -> Any:
        """A REST call by a person; `path` is relative to the repository."""
        url = f"{self.local.api_url}/repos/{self.row.full_name}/{path}".rstrip("/")
        headers = {"authorization": f"token {self.local.user(login).token}", "user-agent": "test"}
        async with httpx.AsyncClient(headers=headers) as http:
            answer = await http.request(method, url, json=body or None)
        assert answer.status_code < 300, (answer.status_code, answer.text)
        return answer.json() if answer.content else None

    async def issue(self, title: str = "Login fails", body: str = "It breaks") -> int:
        """The number of a new issue by Alice."""
        return int((await self.act("alice", "POST", "issues", title=title, body=body))["number"])


@pytest.fixture
def clock() -> TestClock:
    return TestClock()


@pytest.fixture(scope="session")
def shared_github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalGitHub]:
    github = LocalGitHub(tmp_path_factory.mktemp("github"))
    asyncio.run(_start(github))
    github.add_user("alice")
    github.add_user("bob")
    yield github
    asyncio.run(github.stop())


async def _start(github: LocalGitHub) -> None:
    await github.start()


@pytest.fixture
def local(shared_github: LocalGitHub) -> Iterator[LocalGitHub]:
    yield shared_github
    shared_github.hub.faults.clear()
    shared_github.hub.answer_observers.clear()
    shared_github.hub.hooks.observers.clear()


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository on the branch `trunk`, with a file of each mode."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "src").mkdir()
    (folder / "README.md").write_text("# App\n")
    (folder / "src" / "main.py").write_text("print('hello')\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("README.md")
    for args in (["init", "-q", "-b", "trunk"], ["add", "--all"], ["commit", "-q", "-m", "First commit"]):
        subprocess.run(["git", *args], cwd=folder, env={**os.environ, **GIT_ENVIRONMENT}, check=True)
    return folder


@pytest.fixture
def spot(local: LocalGitHub, files: Path) -> Spot:
    return Spot(local, files)


Connect = Callable[..., GitHubApp]


@pytest.fixture
async def connect(local: LocalGitHub) -> AsyncIterator[Connect]:
    """Makes clients of the local GitHub and closes them; options as of `GitHubApp`."""
    made: list[GitHubApp] = []

    def connected(private_key: str | None = None, **options: Any) -> GitHubApp:
        settings = {"api_url": local.api_url, "clock": TestClock(local), **options}
        made.append(GitHubApp(local.app.id, private_key or local.app.private_key, **settings))
        return made[-1]

    yield connected
    for each in made:
        await each.aclose()


@pytest.fixture
def app(connect: Connect) -> GitHubApp:
    return connect()


@pytest.fixture
def repository(spot: Spot, app: GitHubApp) -> RepositoryHandle:
    return RepositoryHandle(app, spot.installation.id, spot.row.id)
