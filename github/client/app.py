"""The App at GitHub: who it is, where it is installed, tokens for one repository, and a handle for each repository."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import structlog
from githubkit.auth import TokenAuthStrategy

from github.client.addresses import Addresses
from github.client.clock import Clock
from github.client.errors import Forbidden, Invalid, NotFound, PermissionMissing, RateLimited, Unauthorized
from github.client.etags import Etags, Kept
from github.client.names import Names
from github.client.rate_limit import Pace, Shared
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope, allows, permissions_for
from github.client.tokens import AppKey, Token, TokenBook, timestamp
from github.client.transport import Answer, Wire

GRANTS_HOLD = 60.0  # seconds before a refusal makes us ask again what the owner has accepted
GRANTS_ASKED_AGAIN = 5.0  # seconds before a permission that was missing is looked for again
FRESH_WAITS = (1.0, 2.0, 4.0)  # seconds between tries of a token that GitHub may not know everywhere yet

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
        self.wire = Wire(self.addresses, api_version=api_version, clock=self.clock, http=http)
        self._key = AppKey(app_id, private_key, self.clock)
        self._tokens = TokenBook(self.clock)
        self._shared = shared
        self._paces: dict[int, Pace] = {}
        self._etags = Etags()
        self._granted: dict[int, tuple[float, Mapping[str, str]]] = {}
        self._identity: Identity | None = None
        self.names = Names(self.clock)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.wire.aclose()

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
            answer = (await self.as_app("POST", path, json=body, repeatable=True)).json()
        except Invalid as error:
            raise NotFound(error.message, request=error.request, status=error.status) from error
        granted = answer.get("permissions") or {}
        log.info("token.minted", installation=installation_id, repositories=list(repository_ids), permissions=granted)
        expires_at = timestamp(answer["expires_at"]) - self._key.offset
        return Token(str(answer["token"]), expires_at, self.clock.now(), granted)

    async def revoke(self, token: str) -> None:
        """End a token now. One that is ended already is fine."""
        try:
            url = self.wire.url("installation/token")
            await self.wire.send("DELETE", url, auth=TokenAuthStrategy(token), repeatable=True)
        except Unauthorized:
            return

    def repository(self, installation_id: int, repository_id: int, full_name: str | None = None) -> RepositoryHandle:
        """A handle on the repository with this lasting id; `full_name` spares a question if it is known."""
        if full_name and self.names.get(repository_id) is None:
            self.names.put(repository_id, full_name, confirmed=False)
        return RepositoryHandle(self, installation_id, repository_id)

    async def repositories(self, installation_id: int) -> AsyncIterator[dict[str, Any]]:
        """The repositories that the installation includes, as GitHub describes them."""
        page: str | None = "installation/repositories?per_page=100"
        while page:
            answer = await self.as_installation(installation_id, (), Scope.READ, "GET", page)
            for each in answer.json().get("repositories") or ():
                yield each
            page = answer.next_page

    async def as_app(self, method: str, path: str, *, json: Any = None, repeatable: bool = False) -> Answer:
        """A request as the App itself (JWT), once more with a corrected clock if GitHub's is another."""
        pace = self._pace(0)
        await pace.check()
        url = self.wire.url(path)
        for _try in range(2):
            try:
                return await self.wire.send(method, url, auth=self._key, body=json, repeatable=repeatable)
            except RateLimited as limit:
                await pace.limited(limit)
                raise
            except Unauthorized as error:
                if not self._key.corrected(error.date):
                    raise
        raise Unauthorized(f"{method} {path}: GitHub refuses our JWT, also by its own clock", status=401)

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
        repeatable: bool = False,
        cached: bool = False,
        follow: bool = True,
    ) -> Answer:
        """A request with a token for these repositories and this scope. See `Repository.request` for the rest."""
        pace = self._pace(installation_id)
        await pace.check()
        writes = method != "GET" and scope is not Scope.READ
        url = self.wire.url(path)

        async def send(token: Token) -> Answer:
            if cached:
                return await self._conditional(installation_id, url, token, params)
            async with pace.writing() if writes else nullcontext():
                return await self.wire.send(
                    method,
                    url,
                    auth=token.auth,
                    body=json,
                    params=params,
                    headers=headers,
                    repeatable=repeatable,
                    follow=follow,
                )

        try:
            return await self._with_token(installation_id, repository_ids, scope, send)
        except RateLimited as limit:
            await self.limited(installation_id, limit)
            raise

    async def limited(self, installation_id: int, limit: RateLimited) -> None:
        """Send nothing more for the installation until the limit is over."""
        await self._pace(installation_id).limited(limit)
        log.warning("github.limited", installation=installation_id, until=limit.retry_at, secondary=limit.secondary)

    def forget(self, installation_id: int) -> None:
        """Forget what the installation's owner had accepted: it has changed."""
        self._granted.pop(installation_id, None)
        self._tokens.drop_all(lambda key: key[0] == installation_id)

    async def _with_token(
        self,
        installation_id: int,
        repository_ids: tuple[int, ...],
        scope: Scope,
        send: Callable[[Token], Awaitable[Answer]],
    ) -> Answer:
        """Send with a token. A fresh one is allowed seconds to be known everywhere; one that is refused is renewed
        once, also when the owner may have accepted more permissions since."""
        key = (installation_id, repository_ids, scope)
        waits = list(FRESH_WAITS)
        renewed = False
        while True:
            token = await self._tokens.get(key, lambda: self._mint_scope(installation_id, repository_ids, scope))
            try:
                return await send(token)
            except (Unauthorized, PermissionMissing) as error:
                hopeless = isinstance(error, PermissionMissing) and not allows(error.needed, token.permissions)
                if not hopeless and waits and token.fresh(self.clock.now()):
                    await self.clock.sleep(waits.pop(0))
                elif renewed:
                    raise
                elif isinstance(error, Unauthorized):
                    renewed = True
                    self._tokens.drop(key, token)
                elif self.clock.now() - self._granted.get(installation_id, (0.0, {}))[0] > GRANTS_HOLD:
                    renewed = True
                    self.forget(installation_id)
                else:
                    raise

    async def _mint_scope(self, installation_id: int, repository_ids: tuple[int, ...], scope: Scope) -> Token:
        granted = await self.granted(installation_id)
        return await self.mint(installation_id, repository_ids, permissions_for(scope, granted))

    async def _conditional(
        self, installation_id: int, url: str, token: Token, params: Mapping[str, str | int] | None
    ) -> Answer:
        key = (str(installation_id), f"{url}?{urlencode(params or {})}")
        kept = self._etags.get(key)
        headers = {"If-None-Match": kept.etag} if kept else None
        answer = await self.wire.send("GET", url, auth=token.auth, params=params, headers=headers)
        if kept and answer.status == 304:
            return Answer(200, {"link": kept.link}, kept.body, answer.moved)
        self._etags.put(key, Kept(answer.headers.get("etag", ""), answer.body, answer.headers.get("link", "")))
        return answer

    async def _bot_id(self, slug: str) -> int:
        """The user id of our bot. A JWT may not ask for users, so it is asked without one, then as an installation."""
        path = f"users/{quote(slug)}%5Bbot%5D"
        try:
            return int((await self.wire.send("GET", self.wire.url(path))).json()["id"])
        except (NotFound, Unauthorized, Forbidden, RateLimited):
            for each in await self.installations():
                if not each.suspended:
                    return int((await self.as_installation(each.id, (), Scope.READ, "GET", path)).json()["id"])
        log.warning("app.no_bot_user", slug=slug)
        return 0

    def _pace(self, installation_id: int) -> Pace:
        if installation_id not in self._paces:
            self._paces[installation_id] = Pace(self.clock, installation_id, self._shared)
        return self._paces[installation_id]


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
