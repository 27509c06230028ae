"""What whoever runs the local GitHub may do to it: add people, repositories, installations, rules and faults."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from github.emulator import attachments
from github.emulator.acts import accounts, comments, installations, repositories
from github.emulator.administration.seed import EVENTS, PERMISSIONS, Seed
from github.emulator.faults import Fault
from github.emulator.git.imports import as_git_repository, current_branch
from github.emulator.hub import AnswerObserver, Hub
from github.emulator.options import EmulatorOptions
from github.emulator.store.apps import App
from github.emulator.store.comments import Comment
from github.emulator.store.installations import Installation
from github.emulator.store.repositories import ROLES, Protection, Repository, Ruleset
from github.emulator.store.store import Store
from github.emulator.store.users import User
from github.emulator.webhooks import HookObserver

T = TypeVar("T")


class Admin:
    """One GitHub and the App under test. Nothing needs a token here."""

    def __init__(self, folder: Path, app_slug: str, options: EmulatorOptions) -> None:
        self.hub = Hub(folder, options)
        self.app: App = Seed.plant(self.hub.forge, app_slug).app

    def call(self, act: Callable[[], T]) -> T:
        """Run something where nothing else changes the store meanwhile."""
        return act()

    def upload(self, content: bytes) -> str:
        """An upload, as people drop one into a text: the address that stands in the text."""
        return attachments.uploaded(self.hub, content)

    # where it is

    @property
    def api_url(self) -> str:
        return self.store.origins.api

    @property
    def web_url(self) -> str:
        return self.store.origins.web

    @property
    def logs_url(self) -> str:
        return self.store.origins.logs

    @property
    def store(self) -> Store:
        return self.hub.store

    # people, repositories, installations

    def add_user(self, login: str, name: str | None = None, email: str | None = None) -> User:
        """A person; `user.token` acts as them over REST and git."""
        return self.call(lambda: accounts.user_added(self.hub.forge, login, "User", name, email))

    def add_organization(self, login: str) -> User:
        return self.call(lambda: accounts.user_added(self.hub.forge, login, "Organization"))

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
                account = self.store.user(owner) or accounts.user_added(self.hub.forge, owner)
                return repositories.created(self.hub.forge, account, name, branch, private, source)

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
            lambda: installations.installed(self.hub.forge, target, account, account, chosen, permissions, events)
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
                self.hub.forge,
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

    def mail(self, full_name: str, number: int, login: str, text: str, header: str | None = None) -> Comment:
        """Somebody answers a notification of an issue or pull request by mail. Raises KeyError."""
        issue = self.store.issue(self.repository(full_name), number)
        if issue is None:
            raise KeyError(f"{full_name} has no issue {number}")
        return self.call(lambda: comments.by_mail(self.hub.forge, issue, self.user(login), text, header))

    def notified(self, login: str) -> list[str]:
        """The pages of the texts that mentioned somebody."""
        return [each.url for each in self.store.notifications if each.user.login.lower() == login.lower()]

    def guard_environment(self, full_name: str, environment: str) -> None:
        """Let jobs of that environment wait until somebody approves."""
        self.repository(full_name).guarded_environments.add(environment)

    def schedule(self, full_name: str) -> int:
        """Start what the repository has scheduled, now; how many runs that makes."""
        return len(self.call(lambda: self.hub.ci.schedule(self.repository(full_name))))

    def add_fault(self, kind: str, **options: Any) -> Fault:
        """Make something go wrong; see `faults`."""
        return self.hub.faults.add(kind, **options)

    def observe(self, answers: AnswerObserver | None = None, hooks: HookObserver | None = None) -> None:
        """Let a test see every REST answer and every webhook."""
        if answers is not None:
            self.hub.answer_observers.append(answers)
        if hooks is not None:
            self.hub.hooks.observers.append(hooks)
