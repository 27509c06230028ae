"""The demo's world: a local GitHub with one repository, two people, the App, and an issue somebody asks us to solve."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from github.emulator import LocalGitHub

OWNER = "acme"
PERSON = "alice"
# GitHub shows the runs of a push some time after it, most often seconds
CI_DELAY_SECONDS = 1.0
HERE = Path(__file__).parent
ISSUE = """Add a conversion to kelvin

Please add a function `celsius_to_kelvin` to degrees.py, with a test: 0 is 273.15.
"""


class Misuse(ValueError):
    """What the demo was given cannot be used; the message says why and what would do."""


@dataclass(frozen=True)
class World:
    """Where things are; everything is asked for as Alice, over the API that everybody uses.

    `default_head` is the default branch's commit before anything happened, None without one; `installation` the App's.
    """

    local: LocalGitHub
    http: httpx.AsyncClient
    repository: str
    default_branch: str
    default_head: str | None
    installation: int = 0

    async def open_issue(self, title: str, body: str) -> int:
        """A new issue; its number."""
        return int((await self._post("issues", {"title": title, "body": body}))["number"])

    async def comment(self, number: int, body: str) -> None:
        await self._post(f"issues/{number}/comments", {"body": body})

    async def head(self, branch: str) -> str | None:
        """The commit at the tip of a branch."""
        answer = await self.http.get(f"/repos/{self.repository}/git/ref/heads/{branch}")
        return str(answer.json()["object"]["sha"]) if answer.status_code == 200 else None

    async def default_branch_moved(self) -> bool:
        return await self.head(self.default_branch) != self.default_head

    async def pull_request(self, number: int | None) -> dict[str, Any] | None:
        """The pull request in short."""
        if number is None:
            return None
        found = (await self.http.get(f"/repos/{self.repository}/pulls/{number}")).json()
        return {
            "number": found["number"],
            "draft": found["draft"],
            "head": found["head"]["ref"],
            "base": found["base"]["ref"],
            "url": found["html_url"],
        }

    async def our_comments(self, issue: int, pull: int | None) -> list[dict[str, Any]]:
        """The App's comments on the issue and on the pull request."""
        found = []
        for number in dict.fromkeys(n for n in (issue, pull) if n is not None):
            answer = await self.http.get(f"/repos/{self.repository}/issues/{number}/comments?per_page=100")
            found += [each for each in answer.json() if each["user"]["type"] == "Bot"]
        return found

    async def commits(self, number: int | None) -> int:
        """How many commits the pull request has."""
        if number is None:
            return 0
        return len((await self.http.get(f"/repos/{self.repository}/pulls/{number}/commits?per_page=100")).json())

    async def close(self) -> None:
        await self.http.aclose()
        await self.local.stop()

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = await self.http.post(f"/repos/{self.repository}/{path}", json=body)
        answer.raise_for_status()
        made: dict[str, Any] = answer.json()
        return made


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


async def build_world(
    source: Path, folder: Path, webhook_url: str, host: str = "127.0.0.1", faults: Sequence[str] = ()
) -> World:
    """The local GitHub with the repository of `source`, the App installed on it, and Alice who may write to it.

    `faults` are rules as `--fault` has them. Raises Misuse for one that is none.
    """
    local = LocalGitHub(folder / "github")
    local.hub.faults.ci_delay(CI_DELAY_SECONDS)
    for rule in faults:
        try:
            local.hub.faults.add_text(rule)
        except (TypeError, ValueError) as error:
            raise Misuse(f"--fault {rule}: {error}") from None
    await local.start(host=host)
    local.add_user(PERSON)
    local.add_user(OWNER)
    name = f"{OWNER}/{_name(source)}"
    row = local.add_repository(name, from_dir=source)
    local.set_permission(name, PERSON, "write")
    local.set_webhook(webhook_url)
    installation = local.install(OWNER, [name])
    token = local.user(PERSON).token
    http = httpx.AsyncClient(
        base_url=local.api_url, headers={"Authorization": f"token {token}", "User-Agent": "greenloop-demo"}, timeout=30
    )
    world = World(local, http, name, row.default_branch, None, installation.id)
    return replace(world, default_head=await world.head(row.default_branch))


def _name(source: Path) -> str:
    plain = "".join(char if char.isalnum() or char in "-_." else "-" for char in source.name).strip("-.")
    return plain or "repository"
