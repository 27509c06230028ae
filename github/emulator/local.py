"""The local GitHub as one object: in a test, in the demo, or alone (`greenloop github`).

    local = LocalGitHub()
    await local.start()
    alice = local.add_user("alice")
    local.add_repository("alice/widgets", from_dir=folder)
    local.install("alice", ["widgets"])
    local.set_webhook("http://127.0.0.1:8000/webhooks/github")
    ...
    await local.stop()

The server runs in a thread of its own, so that a caller may run `git push` and wait for it. Every method may be
called from any thread, before `start` or after.
"""

import asyncio
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from github.emulator import control
from github.emulator.acts import accounts, installations, repositories
from github.emulator.defaults import EVENTS, PERMISSIONS, Seed
from github.emulator.faults import Fault
from github.emulator.git.repository import clean_environment
from github.emulator.hub import AnswerObserver, HookObserver, Hub, Options
from github.emulator.listen import Listener
from github.emulator.store.apps import App
from github.emulator.store.installations import Installation
from github.emulator.store.repositories import ROLES, Protection, Repository, Ruleset
from github.emulator.store.store import Store
from github.emulator.store.users import User

T = TypeVar("T")


class LocalGitHub:
    """See the module. `data_dir` keeps the bare repositories; without it they are in a folder that `stop` removes."""

    def __init__(
        self,
        data_dir: Path | str | None = None,
        app_slug: str = "greenloop",
        options: Options | None = None,
    ) -> None:
        self._temporary = data_dir is None
        self.data_dir = Path(tempfile.mkdtemp(prefix="local-github-") if data_dir is None else data_dir).absolute()
        self.data_dir.mkdir(parents=True, exist_ok=True)
        self.hub = Hub(self.data_dir, options or Options())
        seed = Seed.plant(self.hub, app_slug)
        self.app: App = seed.app
        self._listener: Listener | None = None

    # life

    async def start(self, port: int = 0, logs_port: int = 0, host: str = "127.0.0.1") -> "LocalGitHub":
        """Listen on `port` (0: any free one), and on `logs_port` for log blobs."""
        self._listener = Listener(self.hub, control.routes(self), host, port, logs_port)
        await asyncio.to_thread(self._listener.start)
        return self

    async def stop(self) -> None:
        """Stop serving, delivering and building; remove the repositories if they were temporary."""
        if self._listener is not None:
            await asyncio.to_thread(self._listener.stop)
            self._listener = None
        if self._temporary:
            await asyncio.to_thread(shutil.rmtree, self.data_dir, True)

    async def __aenter__(self) -> "LocalGitHub":
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def idle(self, seconds: float = 120.0) -> None:
        """Wait until no webhook is on its way and no workflow runs. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while self.hub.hooks.busy or self.hub.ci.busy:
                await asyncio.sleep(0.02)

    def call(self, act: Callable[[], T]) -> T:
        """Run something on the server's loop, where nothing else changes the store meanwhile."""
        listener = self._listener
        if listener is None or listener.here():
            return act()
        return listener.call(act)

    # where it is

    @property
    def api_url(self) -> str:
        return self.hub.api_url

    @property
    def web_url(self) -> str:
        return self.hub.web_url

    @property
    def logs_url(self) -> str:
        return self.hub.logs_url

    @property
    def store(self) -> Store:
        return self.hub.store

    # people, repositories, installations

    def add_user(self, login: str, name: str | None = None, email: str | None = None) -> User:
        """A person; `user.token` acts as them over REST and git."""
        return self.call(lambda: accounts.user_added(self.hub, login, "User", name, email))

    def add_organization(self, login: str) -> User:
        return self.call(lambda: accounts.user_added(self.hub, login, "Organization"))

    def user(self, login: str) -> User:
        """The account of that login. Raises KeyError."""
        found = self.store.user(login)
        if found is None:
            raise KeyError(f"no account {login!r} on the local GitHub: add it with add_user")
        return found

    def add_repository(
        self,
        full_name: str,
        from_dir: Path | str | None = None,
        default_branch: str | None = None,
        private: bool = True,
    ) -> Repository:
        """A repository, its owner made if need be. `from_dir` is a git repository (its branches and tags are taken,
        and its current branch is the default one) or any folder, whose files become the first commit."""
        owner, _, name = full_name.partition("/")
        with tempfile.TemporaryDirectory(prefix="import-") as scratch:
            source = None if from_dir is None else as_git_repository(Path(from_dir).absolute(), Path(scratch))
            branch = default_branch or (current_branch(source) if source else None) or "main"

            def act() -> Repository:
                account = self.store.user(owner) or accounts.user_added(self.hub, owner)
                return repositories.created(self.hub, account, name, branch, private, source)

            return self.call(act)

    def repository(self, full_name: str) -> Repository:
        """The repository of that name. Raises KeyError."""
        found = self.store.repository(full_name)
        if found is None:
            raise KeyError(f"no repository {full_name!r} on the local GitHub: add it with add_repository")
        return found

    def set_permission(self, full_name: str, login: str, role: str) -> None:
        """Give a person a role: none, read, triage, write, maintain or admin. Raises ValueError for another."""
        if role not in ROLES:
            raise ValueError(f"unknown role {role!r}: one of {', '.join(ROLES)}")
        repository = self.repository(full_name)
        repository.roles[self.user(login).id] = role

    def install(
        self,
        owner: str,
        repositories: list[str] | None = None,
        permissions: dict[str, str] | None = None,
        events: list[str] | None = None,
        app: App | None = None,
    ) -> Installation:
        """Install the App on an account: on the repositories named (short or full), or on all of them."""
        account = self.user(owner)
        chosen = None
        if repositories is not None:
            chosen = [self.repository(name if "/" in name else f"{owner}/{name}") for name in repositories]
        target = app or self.app
        return self.call(
            lambda: installations.installed(self.hub, target, account, account, chosen, permissions, events)
        )

    def add_app(
        self,
        slug: str,
        permissions: dict[str, str] | None = None,
        events: list[str] | None = None,
        webhook_url: str = "",
    ) -> App:
        """Another App, for instance some other CI."""
        owner = self.user("greenloop-owner")
        return self.call(
            lambda: accounts.app_added(
                self.hub,
                slug,
                owner,
                PERMISSIONS if permissions is None else permissions,
                list(EVENTS) if events is None else events,
                webhook_url,
            )
        )

    def set_webhook(self, url: str, secret: str | None = None) -> None:
        """Send the App's webhooks to `url`."""
        self.app.hook.url = url
        if secret is not None:
            self.app.hook.secret = secret

    def set_callback(self, *urls: str) -> None:
        """Where people may be sent back to after they let the App act for them."""
        self.app.callback_urls = list(urls)

    def protect(
        self,
        full_name: str,
        branch: str,
        contexts: list[str] | None = None,
        strict: bool = False,
        approvals: int = 0,
        refuse_pushes: bool = True,
        app_ids: dict[str, int] | None = None,
    ) -> None:
        """Classic protection of a branch: `contexts` are its required checks, `app_ids` pins some to an App."""
        repository = self.repository(full_name)
        repository.protections[branch] = Protection(
            list(contexts or []), dict(app_ids or {}), strict, refuse_pushes, approvals
        )

    def add_ruleset(
        self,
        full_name: str,
        name: str,
        include: list[str],
        rules: list[dict[str, Any]],
        exclude: list[str] | None = None,
        bypass: list[int] | None = None,
    ) -> Ruleset:
        """A ruleset; `rules` are `{"type", "parameters"?}` as GitHub's API has them, `bypass` ids of Apps."""
        row = Ruleset(
            self.store.rulesets.new_id(), name, include, rules, list(exclude or []), bypass=list(bypass or [])
        )
        self.repository(full_name).rulesets.append(self.store.rulesets.add(row))
        return row

    def add_fault(self, kind: str, **options: Any) -> Fault:
        """Make something go wrong; see `faults`."""
        return self.hub.faults.add(kind, **options)

    def observe(self, answers: AnswerObserver | None = None, hooks: HookObserver | None = None) -> None:
        """Let a test see every REST answer and every webhook."""
        if answers is not None:
            self.hub.answer_observers.append(answers)
        if hooks is not None:
            self.hub.hook_observers.append(hooks)


def current_branch(folder: Path) -> str | None:
    """The branch a git repository stands on, also when it has no commits."""
    done = subprocess.run(
        ["git", "symbolic-ref", "--short", "HEAD"],
        cwd=folder,
        capture_output=True,
        text=True,
        env=clean_environment(),
        check=False,
    )
    return done.stdout.strip() or None


def as_git_repository(folder: Path, scratch: Path) -> Path:
    """The folder itself when it is a git repository, else a repository made of its files."""
    if (folder / ".git").exists() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir()):
        return folder
    copy = scratch / "copy"
    shutil.copytree(folder, copy, symlinks=True)
    for args in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all", "--force"],
        ["commit", "--quiet", "--allow-empty", "-m", "First commit"],
    ):
        subprocess.run(["git", *args], cwd=copy, env=clean_environment(), check=True, capture_output=True)
    return copy
