"""A handle on one repository by its lasting id. It survives a rename or a transfer inside the installation."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

import structlog

from github.client.app import GitHubApp
from github.client.errors import (
    GitHubError,
    Invalid,
    NotFound,
    PermissionMissing,
    RateLimited,
    ServerFault,
    Unreachable,
    UnreadableAnswer,
)
from github.client.http.answers import is_secondary, rate_limit
from github.client.http.connections import FRESH
from github.client.http.transport import Answer
from github.client.queries import CLOSED_SECONDS, QueryUnavailable
from github.client.scopes import Scope

PER_PAGE = 100

log = structlog.get_logger()


def quoted(part: str) -> str:
    """A branch, path or login for use inside an API path; slashes stay."""
    return quote(part, safe="/")


class RepositoryHandle:
    """Requests about one repository, each with a token for this repository only."""

    def __init__(self, app: GitHubApp, installation_id: int, repository_id: int, full_name: str | None = None) -> None:
        """`full_name` spares a question if it is known."""
        self.app = app
        self.installation_id = installation_id
        self.id = repository_id
        if full_name and app.names.get(repository_id) is None:
            app.names.put(repository_id, full_name, confirmed=False)

    def __repr__(self) -> str:
        return f"RepositoryHandle(id={self.id}, name={self.app.names.get(self.id)!r})"

    async def full_name(self) -> str:
        """`owner/name`, as far as we know; a rename is noticed when GitHub redirects or no longer finds it."""
        return self.app.names.get(self.id) or await self.refresh_name()

    async def refresh_name(self) -> str:
        """Ask GitHub what the repository is called now. Raises NotFound if it is gone or no longer ours to see."""
        answer = await self._send("GET", f"repositories/{self.id}", Scope.READ)
        name = str(answer.json()["full_name"])
        self.app.names.put(self.id, name)
        return name

    async def request(
        self,
        method: str,
        path: str,
        *,
        scope: Scope = Scope.READ,
        json: Any = None,
        params: Mapping[str, str | int] | None = None,
        accept: str | None = None,
        max_age: float = 0.0,
    ) -> Answer:
        """A request to `repos/{owner}/{name}/{path}`. `path` is quoted already; "" is the repository itself.

        `accept` names another representation than JSON; for a GET an answer of the last `max_age` seconds will do.
        Raises GitHubError.
        """
        headers = _aged(max_age) | ({"Accept": accept} if accept else {})

        async def sent(name: str) -> Answer:
            url = f"repos/{name}/{path}".rstrip("/")
            return await self._send(method, url, scope, json=json, params=params, headers=headers)

        return await self._named(sent)

    async def beside_git(self, path: str, *, json: Any, media: str) -> Answer:
        """A POST below the address that Git uses, with a token that may write. Raises GitHubError."""
        headers = {"Accept": media, "Content-Type": media}

        async def sent(name: str) -> Answer:
            url = f"{name}.git/{path}"
            return await self._send("POST", url, Scope.PUBLISH, json=json, headers=headers, git=True)

        return await self._named(sent)

    async def _named(self, sent: Callable[[str], Awaitable[Answer]]) -> Answer:
        """What `sent` comes to under the repository's name, and under its new one where that has changed."""
        name = await self.full_name()
        try:
            answer = await sent(name)
        except NotFound:
            former = name
            if (name := self.app.names.get(self.id) or former) == former:  # else another request has learned it
                if not self.app.names.doubtful(self.id):
                    raise
                if (name := await self.refresh_name()) == former:
                    raise
            return await sent(name)
        if not answer.moved:
            return answer
        former, name = name, await self.refresh_name()
        answer = await sent(name)
        if answer.moved:
            raise GitHubError(f"GitHub redirects {former} to itself: try again later", status=answer.status)
        return answer

    async def get(self, path: str, *, params: Mapping[str, str | int] | None = None, max_age: float = 0.0) -> Any:
        """The JSON value of a GET."""
        return (await self.request("GET", path, params=params, max_age=max_age)).json()

    async def pages(
        self,
        path: str,
        key: str | None = None,
        *,
        params: Mapping[str, str | int] | None = None,
        limit: int = 1000,
        max_age: float = 0.0,
    ) -> AsyncIterator[Any]:
        """The items of all pages, at most `limit`; `key` names the list where GitHub wraps it in an object. Pages of
        the last `max_age` seconds will do."""
        seen = 0
        answer = await self.request("GET", path, params={"per_page": PER_PAGE, **(params or {})}, max_age=max_age)
        while True:
            value = answer.json()
            for item in (value.get(key) if key else value) or ():
                seen += 1
                yield item
                if seen == limit:
                    return
            following = answer.next_page
            if following is None:
                return
            answer = await self._send("GET", following, Scope.READ, headers=_aged(max_age))

    async def graphql(self, query: str, variables: Mapping[str, Any], *, scope: Scope = Scope.TALK) -> Any:
        """The `data` of a GraphQL query or mutation. GraphQL answers 200 also for errors; those are raised."""
        answer = await self.app.as_installation(
            self.installation_id,
            (self.id,),
            scope,
            "POST",
            self.app.addresses.graphql,
            json={"query": query, "variables": dict(variables)},
        )
        value = answer.json()
        if value.get("errors"):
            error = _graphql_error(value["errors"], answer.headers, self.app.clock.now())
            if isinstance(error, RateLimited) and error.secondary:  # else only GraphQL's own budget is used up
                await self.app.limited(self.installation_id, error)
            raise error
        self.app.queries.told(self.installation_id, answer.headers)
        return value.get("data") or {}

    async def query(self, text: str, variables: Mapping[str, Any], *, max_age: float = 0.0) -> Any:
        """The node of this repository in the answer to a query about `repository(owner: $owner, name: $name)`.

        It has to ask for `databaseId`, since a name may be another repository's by now. An answer of the last `max_age`
        seconds will do. Raises QueryUnavailable where REST has to be asked, which finds what moved, too.
        """
        known = self.app.queries
        if known.closed(self.installation_id):
            raise QueryUnavailable
        key = (self.installation_id, self.id, text, tuple(sorted(variables.items())))
        if (kept := known.kept(key, max_age)) is not None:
            return kept
        owner, name = (await self.full_name()).split("/")
        try:
            data = await self.graphql(text, {"owner": owner, "name": name, **variables}, scope=Scope.READ)
        except RateLimited as error:
            if error.secondary:
                raise
            known.close(self.installation_id, error.retry_at)
            raise QueryUnavailable from error
        except (Invalid, PermissionMissing) as error:
            log.warning("query.refused", installation=self.installation_id, error=str(error))
            known.close(self.installation_id, self.app.clock.now() + CLOSED_SECONDS)
            raise QueryUnavailable from error
        except (NotFound, ServerFault, UnreadableAnswer, Unreachable) as error:
            raise QueryUnavailable from error
        found = data.get("repository") or {}
        if found.get("databaseId") != self.id:  # the name is another repository's by now
            await self.refresh_name()
            raise QueryUnavailable
        known.keep(key, found)
        return found

    async def _send(self, method: str, path: str, scope: Scope, **options: Any) -> Answer:
        return await self.app.as_installation(self.installation_id, (self.id,), scope, method, path, **options)


def _aged(max_age: float) -> dict[str, str]:
    """The header that says how old an answer may be."""
    return {"Cache-Control": f"{FRESH}{max_age:g}"} if max_age else {}


def _graphql_error(found: list[Mapping[str, Any]], headers: Mapping[str, str], now: float) -> GitHubError:
    first = found[0]
    kind = str(first.get("type") or "")
    text = f"GraphQL: {'; '.join(str(each.get('message') or each) for each in found)}"
    if kind in ("RATE_LIMITED", "RATE_LIMIT") or is_secondary(text):  # GitHub uses both
        return rate_limit(text, text, "POST graphql", 200, headers, now)
    if kind == "NOT_FOUND":
        return NotFound(text, request="POST graphql", status=200)
    if kind == "FORBIDDEN" or "not accessible by integration" in text:
        return PermissionMissing(text, request="POST graphql", status=200)
    return Invalid(text, request="POST graphql", status=200)
