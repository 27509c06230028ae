"""A local GitHub with one repository, one App and people, for the tests of this room."""

import subprocess
from pathlib import Path
from typing import Any

import httpx
import jwt

from github.emulator import LocalGitHub
from github.emulator.git.repository import clean_environment
from github.emulator.store.users import User
from tests.github.emulator.validation import Validation
from tests.workflows import workflow

Json = dict[str, Any]
REPO = "/repos/acme/widgets"
WORKFLOW = workflow("""|
          echo "::warning file=a.txt,line=2::look here"
          test ! -f broken.txt""")


def app_jwt(local: LocalGitHub, **claims: Any) -> str:
    now = int(local.hub.clock.now().timestamp())
    body = {"iat": now - 30, "exp": now + 500, "iss": str(local.app.id)} | claims
    return jwt.encode(body, local.app.private_key, algorithm="RS256")


class House:
    """`alice` owns the organisation's repository as admin, `bob` may read, `carol` may write."""

    def __init__(self, local: LocalGitHub, folder: Path, workflow: str = WORKFLOW) -> None:
        self.local, self.folder = local, folder
        self.watch = Validation()
        self.watch.attach(local)
        local.add_organization("acme")
        self.alice, self.bob, self.carol = (local.add_user(name) for name in ("alice", "bob", "carol"))
        files = folder / "files"
        (files / ".github/workflows").mkdir(parents=True)
        (files / "a.txt").write_text("one\ntwo\nthree\n")
        (files / ".github/workflows/ci.yml").write_text(workflow)
        self.repository = local.add_repository("acme/widgets", from_dir=files)
        for user, role in ((self.alice, "admin"), (self.bob, "read"), (self.carol, "write")):
            local.set_permission("acme/widgets", user.login, role)
        self.installation = local.install("acme", ["widgets"])
        self.http = httpx.AsyncClient(base_url=local.api_url, timeout=30)

    async def ask(self, method: str, path: str, who: User | str | None, **options: Any) -> httpx.Response:
        """One call, as a person, with a token, or as nobody."""
        token = who.token if isinstance(who, User) else who
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return await self.http.request(method, path, headers=headers | options.pop("headers", {}), **options)

    async def token(self, **body: Any) -> str:
        path = f"/app/installations/{self.installation.id}/access_tokens"
        answer = await self.ask("POST", path, app_jwt(self.local), json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["token"])

    async def commit(self, token: str, branch: str, files: dict[str, str], base: str | None = None) -> str:
        """A commit of these files through the git data API, and the branch on it. Its sha."""
        name = base or branch
        head = (await self.ask("GET", f"{REPO}/git/ref/heads/{name}", token)).json()["object"]["sha"]
        entries = [{"path": p, "mode": "100644", "type": "blob", "content": c} for p, c in files.items()]
        made = await self.ask("POST", f"{REPO}/git/trees", token, json={"base_tree": head, "tree": entries})
        body = {"message": f"Change {', '.join(files)}", "tree": made.json()["sha"], "parents": [head]}
        sha = str((await self.ask("POST", f"{REPO}/git/commits", token, json=body)).json()["sha"])
        if base is None:
            moved = await self.ask("PATCH", f"{REPO}/git/refs/heads/{branch}", token, json={"sha": sha})
        else:
            moved = await self.ask("POST", f"{REPO}/git/refs", token, json={"ref": f"refs/heads/{branch}", "sha": sha})
        assert moved.is_success, moved.text
        return sha

    def git(self, *args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *args], cwd=cwd or self.folder, env=clean_environment(), capture_output=True, text=True, check=False
        )

    def clone_url(self, token: str) -> str:
        return self.local.web_url.replace("://", f"://x-access-token:{token}@") + "/acme/widgets.git"

    async def close(self) -> None:
        await self.http.aclose()
