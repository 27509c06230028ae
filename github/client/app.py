"""The App at GitHub: who it is, where it is installed, and tokens for its installations."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
import structlog
from githubkit.auth import TokenAuthStrategy

from github.client.addresses import Addresses
from github.client.auth import AppKey, InstallationAuth
from github.client.clock import Clock
from github.client.errors import Forbidden, Invalid, NotFound, Paced, RateLimited, Unauthorized
from github.client.http.rate_limit import RateLimit, Shared, Throttle
from github.client.http.transport import Answer, Transport
from github.client.names import Names
from github.client.queries import Queries
from github.client.scopes import Scope, permissions_for
from github.client.tokens import Token, TokenBook, timestamp
from github.client.told import Told

GRANTS_HOLD = 60.0  # seconds before a refusal makes us ask again what the owner has accepted
GRANTS_ASKED_AGAIN = 5.0  # seconds before a permission that was missing is looked for again

DELIVERY_LOG = -1  # the budget of whoever walks the App's log of deliveries: a limit met there holds up nothing else

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Identity:
    """The App as GitHub knows it. `bot_id` is the user id of `<slug>[bot]`; `email` its commit address."""

    app_id: int
    slug: str
    name: str
    bot_id: int
    permissions: Mapping[str, str]
    events: tuple[str, ...]
    html_url: str

    @property
    def login(self) -> str:
        return f"{self.slug}[bot]"

    @property
    def email(self) -> str:
        return f"{self.bot_id}+{self.login}@users.noreply.github.com"


@dataclass(frozen=True, slots=True)
class InstallationFacts:
    """An installation. `permissions` are those its owner has accepted, which may be fewer than the App asks for."""

    id: int
    account_id: int
    account: str
    suspended: bool
    permissions: Mapping[str, str]
    repository_selection: str


class GitHubApp:
    """Everything starts here. One object per process; close it with `aclose()`.

    `api_url` is https://api.github.com, or https://HOST/api/v3 for GitHub Enterprise Server; `api_version` is
    2022-11-28 or 2026-03-10 (GitHub Enterprise Server before 3.21 knows the first only). `shared` is what several
    processes know together of GitHub's limits.
    """

    def __init__(
        self,
        app_id: int,
        private_key: str,
        *,
        api_url: str = "https://api.github.com",
        web_url: str | None = None,
        api_version: str = "2022-11-28",
        http: httpx.AsyncClient | None = None,
        clock: Clock | None = None,
        shared: Shared | None = None,
    ) -> None:
        self.app_id = app_id
        self.clock = clock or Clock()
        self.addresses = Addresses.of(api_url, web_url)
        self.transport = Transport(self.addresses, api_version=api_version, clock=self.clock, http=http)
        self._key = AppKey(app_id, private_key, self.clock)
        self._tokens = TokenBook(self.clock)
        self._shared = shared
        self._limits: dict[int, RateLimit] = {}
        self._granted: dict[int, tuple[float, Mapping[str, str]]] = {}
        self._identity: Identity | None = None
        self.names = Names(self.clock)
        self.queries = Queries(self.clock)
        self.told = Told(self.clock)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.transport.aclose()

    async def identity(self) -> Identity:
        """Who we are; asked once. Raises Unauthorized for a wrong id or key."""
        if self._identity is None:
            app = (await self.as_app("GET", "app")).json()
            slug = str(app["slug"])
            self._identity = Identity(
                app_id=int(app["id"]),
                slug=slug,
                name=str(app.get("name") or slug),
                bot_id=await self._bot_id(slug),
                permissions=dict(app.get("permissions") or {}),
                events=tuple(app.get("events") or ()),
                html_url=str(app.get("html_url") or ""),
            )
        return self._identity

    def adopt(self, identity: Identity) -> None:
        """Go by an identity that GitHub told an earlier process, where GitHub cannot be asked now."""
        self._identity = identity

    async def installations(self) -> list[InstallationFacts]:
        """Every installation of the App."""
        found: list[InstallationFacts] = []
        page: str | None = "app/installations?per_page=100"
        while page:
            answer = await self.as_app("GET", page)
            found += [_installation(each) for each in answer.json()]
            page = answer.next_page
        return found

    async def installation(self, installation_id: int) -> InstallationFacts:
        """One installation, as it is now. Raises NotFound once it is removed."""
        facts = _installation((await self.as_app("GET", f"app/installations/{installation_id}")).json())
        self._granted[installation_id] = (self.clock.now(), facts.permissions)
        return facts

    async def granted(self, installation_id: int) -> Mapping[str, str]:
        """The permissions that the installation's owner has accepted, as far as we know."""
        if installation_id not in self._granted:
            await self.installation(installation_id)
        return self._granted[installation_id][1]

    async def grants(self, installation_id: int, permission: str) -> bool:
        """Whether the owner accepted to let us write `permission`. What was missing a moment ago is asked again."""
        if (await self.granted(installation_id)).get(permission) == "write":
            return True
        if self.clock.now() - self._granted[installation_id][0] > GRANTS_ASKED_AGAIN:
            await self.installation(installation_id)
        return self._granted[installation_id][1].get(permission) == "write"

    async def mint(self, installation_id: int, repository_ids: Sequence[int], permissions: Mapping[str, str]) -> Token:
        """A new token for these repositories (at most 500; none means all) and no more than these permissions.

        Raises NotFound (uninstalled, or a repository that the installation does not include), InstallationSuspended or
        PermissionMissing (not granted).
        """
        body: dict[str, Any] = {"permissions": dict(permissions)} if permissions else {}
        if repository_ids:
            body["repository_ids"] = list(repository_ids)
        path = f"app/installations/{installation_id}/access_tokens"
        try:
            answer = (await self.as_app("POST", path, json=body)).json()
        except Invalid as error:
            raise NotFound(error.message, request=error.request, status=error.status) from error
        granted = answer.get("permissions") or {}
        log.info("token.minted", installation=installation_id, repositories=list(repository_ids), permissions=granted)
        expires_at = timestamp(answer["expires_at"]) - self._key.offset
        return Token(str(answer["token"]), expires_at, self.clock.now(), granted)

    async def revoke(self, token: str) -> None:
        """End a token now. One that is ended already is fine."""
        try:
            url = self.transport.url("installation/token")
            await self.transport.send("DELETE", url, auth=TokenAuthStrategy(token))
        except Unauthorized:
            return

    async def repositories(self, installation_id: int) -> AsyncIterator[dict[str, Any]]:
        """The repositories that the installation includes, as GitHub describes them."""
        page: str | None = "installation/repositories?per_page=100"
        while page:
            answer = await self.as_installation(installation_id, (), Scope.READ, "GET", page)
            for each in answer.json().get("repositories") or ():
                yield each
            page = answer.next_page

    async def as_app(self, method: str, path: str, *, json: Any = None, budget: int = 0) -> Answer:
        """A request as the App itself. A limit that it meets is kept for requests of the same `budget`."""
        limit = self._limit(budget)
        throttle = Throttle(limit, writes=False)
        try:
            url = self.transport.url(path)
            return await self.transport.send(method, url, auth=self._key, throttler=throttle, body=json)
        except RateLimited as met:
            await limit.limited(met)
            raise

    async def as_installation(
        self,
        installation_id: int,
        repository_ids: tuple[int, ...],
        scope: Scope,
        method: str,
        path: str,
        *,
        json: Any = None,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        git: bool = False,
    ) -> Answer:
        """A request with a token for these repositories and this scope. `git`: `path` is an address beside Git's."""
        try:
            return await self.transport.send(
                method,
                f"{self.addresses.web}/{path}" if git else self.transport.url(path),
                auth=self.auth(installation_id, repository_ids, scope, git=git),
                throttler=self.throttle(installation_id, scope),
                body=json,
                params=params,
                headers=headers,
            )
        except Paced:
            raise  # that is about creating content only
        except RateLimited as limit:
            await self.limited(installation_id, limit)
            raise

    def auth(
        self, installation_id: int, repository_ids: tuple[int, ...], scope: Scope, *, git: bool = False
    ) -> InstallationAuth:
        """How requests for these repositories and this scope are signed."""

        async def mint() -> Token:
            granted = await self.granted(installation_id)
            return await self.mint(installation_id, repository_ids, permissions_for(scope, granted))

        def outdated() -> bool:
            asked_at, _ = self._granted.get(installation_id, (0.0, {}))
            if self.clock.now() - asked_at <= GRANTS_HOLD:
                return False
            self.forget(installation_id)
            return True

        key = (installation_id, repository_ids, scope)
        return InstallationAuth(self._tokens, key, mint, outdated, self.clock, git=git)

    def throttle(self, installation_id: int, scope: Scope) -> Throttle:
        """How requests of the installation take their turns."""
        return Throttle(self._limit(installation_id), writes=scope is not Scope.READ)

    async def limited(self, installation_id: int, limit: RateLimited) -> None:
        """Send nothing more for the installation until the limit is over."""
        await self._limit(installation_id).limited(limit)
        log.warning("github.limited", installation=installation_id, until=limit.retry_at, secondary=limit.secondary)

    def forget(self, installation_id: int) -> None:
        """Forget what the installation's owner had accepted: it has changed."""
        self._granted.pop(installation_id, None)
        self._tokens.drop_all(lambda key: key[0] == installation_id)

    async def _bot_id(self, slug: str) -> int:
        """The user id of our bot. A JWT may not ask for users, so it is asked without one, then as an installation."""
        path = f"users/{quote(slug)}%5Bbot%5D"
        try:
            return int((await self.transport.send("GET", self.transport.url(path))).json()["id"])
        except (NotFound, Unauthorized, Forbidden, RateLimited):
            for each in await self.installations():
                if not each.suspended:
                    return int((await self.as_installation(each.id, (), Scope.READ, "GET", path)).json()["id"])
        log.warning("app.no_bot_user", slug=slug)
        return 0

    def _limit(self, installation_id: int) -> RateLimit:
        if installation_id not in self._limits:
            self._limits[installation_id] = RateLimit(self.clock, installation_id, self._shared)
        return self._limits[installation_id]


def _installation(found: Mapping[str, Any]) -> InstallationFacts:
    account = found.get("account") or {}
    return InstallationFacts(
        id=int(found["id"]),
        account_id=int(account.get("id") or 0),
        account=str(account.get("login") or account.get("slug") or ""),
        suspended=found.get("suspended_at") is not None,
        permissions=dict(found.get("permissions") or {}),
        repository_selection=str(found.get("repository_selection") or ""),
    )
