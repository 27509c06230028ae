"""The table of routes: which template of GitHub's OpenAPI a path is."""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from github.emulator.api.call import Answer, Call, Listing

Result = Answer | Listing
Handler = Callable[[Call], Result | Awaitable[Result]]

# parameters whose values hold slashes and are sent raw
GREEDY = {"ref", "path", "branch", "basehead", "commit_sha"}


_CONTENT = ("issues", "comments", "pulls", "reviews", "replies")


@dataclass(frozen=True)
class Route:
    """`permission`: `app` (JWT), `installation`, `none` (anybody), `any` (somebody), or App permissions such as
    `issues:write|pull_requests:write`. `role` is what a person needs on the repository instead."""

    method: str
    template: str
    handler: Handler
    permission: str
    role: str = ""

    @property
    def alternatives(self) -> list[tuple[str, str]]:
        """The App permissions, any of which suffices."""
        return [(name, level) for name, _, level in (p.partition(":") for p in self.permission.split("|")) if level]

    @property
    def accepted(self) -> str:
        return "; ".join(f"{name}={level}" for name, level in self.alternatives)

    @property
    def creates_content(self) -> bool:
        """Whether the secondary limit on content counts it: issues, comments, pull requests and reviews."""
        return self.method == "POST" and self.template.rsplit("/", 1)[1] in _CONTENT

    @property
    def needed_role(self) -> str:
        return self.role or ("read" if self.method == "GET" else "write")


def _pattern(template: str) -> re.Pattern[str]:
    def parameter(found: re.Match[str]) -> str:
        name = found[1]
        return f"(?P<{name}>{'.+?' if name in GREEDY else '[^/]+'})"

    escaped = re.sub(r"\\{(\w+)\\}", parameter, re.escape(template))
    return re.compile(f"{escaped}/?$")


class Table:
    """Routes, most literal first, so that `…/commits/{ref}/status` wins over `…/commits/{ref}`."""

    def __init__(self, routes: Iterable[Route]) -> None:
        def literals(route: Route) -> tuple[int, int]:
            parts = route.template.split("/")
            return -sum("{" not in part for part in parts), -len(parts)

        self.routes = sorted(routes, key=literals)
        self._compiled = [(route, _pattern(route.template)) for route in self.routes]

    def match(self, method: str, path: str) -> tuple[Route, dict[str, str]] | None:
        """The route and its parameters, or None. HEAD is GET without a body."""
        wanted = "GET" if method == "HEAD" else method
        for route, pattern in self._compiled:
            if route.method == wanted and (found := pattern.match(path)):
                return route, found.groupdict()
        return None

    def template_of(self, path: str) -> str | None:
        """Some template that the path fits, whatever the method."""
        return next((route.template for route, pattern in self._compiled if pattern.match(path)), None)
