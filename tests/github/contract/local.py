"""A local GitHub as the suite finds it, as strange to it as the real one."""

from pathlib import Path

import httpx

from github.emulator import LocalGitHub
from tests.github.contract.target import Target, app_jwt
from tests.github.emulator.validation import Validation

PERMISSIONS = {"workflows": "write", "statuses": "write"}


class LocalTarget(Target):
    """One repository of an organization, with an App of all permissions and its administrator."""

    def __init__(self, local: LocalGitHub, folder: Path) -> None:
        self.local, self.watch = local, Validation()
        self.watch.attach(local)
        local.add_organization("acme")
        person = local.add_user("alice")
        (folder / "README.md").write_text("# Widgets\n")
        local.add_repository("acme/widgets", from_dir=folder, private=False)
        local.set_permission("acme/widgets", "alice", "admin")
        installation = local.install("acme", ["widgets"], permissions=local.app.permissions | PERMISSIONS)
        path = f"{local.api_url}/app/installations/{installation.id}/access_tokens"
        answer = httpx.post(path, headers={"Authorization": f"Bearer {self.jwt()}", "User-Agent": "test"})
        answer.raise_for_status()
        tokens = {"installation": str(answer.json()["token"]), "person": person.token}
        super().__init__(local.api_url, "acme/widgets", tokens)

    def jwt(self) -> str:
        return app_jwt(self.local.app.id, self.local.app.private_key, int(self.local.hub.clock.now().timestamp()))
