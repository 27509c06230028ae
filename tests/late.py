"""A GitHub whose answers are late: chosen requests of the service get another answer, in front of the local GitHub."""

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

Answer = Callable[[httpx.Request], httpx.Response]


class Late:
    """Takes the place of httpx's transport for as long as a test runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[str, str]] = []
        self.given: list[tuple[str, str]] = []
        self._rules: list[tuple[str, re.Pattern[str], Answer, list[int]]] = []
        self._hidden: list[tuple[str, list[int]]] = []
        real = httpx.AsyncHTTPTransport.handle_async_request

        async def handle(transport: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
            if not request.headers.get("user-agent", "").startswith("greenloop/"):
                return await real(transport, request)  # a person's, or the local GitHub's
            self.seen.append((request.method, request.url.path))
            return self._rule(request) or await self._without(request, await real(transport, request))

        monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", handle)

    def answer(self, method: str, path: str, times: int, status: int, message: str, **fields: Any) -> None:
        """The next `times` requests whose path ends as the pattern `path` says fail like this."""
        body = {"message": message, "documentation_url": "", "status": str(status), **fields}
        self.give(method, path, times, lambda _: httpx.Response(status, json=body))

    def give(self, method: str, path: str, times: int, answer: Answer) -> None:
        """The next `times` such requests get this answer."""
        self._rules.append((method, re.compile(f"{path}$"), answer, [times]))

    def hide(self, field: str, times: int) -> None:
        """The next `times` answers of GraphQL that would tell this field of the repository tell null."""
        self._hidden.append((field, [times]))

    async def _without(self, request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        if not request.url.path.endswith("/graphql"):
            return answer
        body = json.loads(await answer.aread())
        told = (body.get("data") or {}).get("repository") or {}
        for field, left in self._hidden:
            if left[0] and told.get(field) is not None:
                left[0] -= 1
                self.given.append(("GRAPHQL", field))
                told[field] = None
        limits = {name: value for name, value in answer.headers.items() if name.startswith("x-")}
        return httpx.Response(answer.status_code, json=body, headers=limits, request=request)

    def _rule(self, request: httpx.Request) -> httpx.Response | None:
        for method, path, answer, left in self._rules:
            if request.method == method and left[0] and path.search(request.url.path):
                left[0] -= 1
                self.given.append((method, request.url.path))
                found = answer(request)
                found.request = request
                return found
        return None
