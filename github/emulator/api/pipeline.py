"""The way of every REST call: version, faults, caller, budget, route, repository, permission, body, answer, headers."""

import asyncio
import hashlib
import inspect
import json
import time
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import structlog
from starlette.requests import Request
from starlette.responses import Response

from github.emulator.actor import ANONYMOUS, Actor
from github.emulator.api import paging, versions
from github.emulator.api.access import locate, permit
from github.emulator.api.auth import authenticate
from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route, Table
from github.emulator.errors import Refusal, not_found
from github.emulator.faults import Fault
from github.emulator.git.repository import GitError
from github.emulator.hub import Hub
from github.emulator.limits import Budget

log = structlog.get_logger(__name__)

_DOCS = "https://docs.github.com/free-pro-team@latest/rest/overview"
_AGENT = (
    "Request forbidden by administrative rules. Please make sure your request has a User-Agent header"
    " (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required)."
    " Check https://developer.github.com for other possible causes."
)
_SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to"
    " GitHub Support for help, please include the request ID."
)


# what else than `core` a call is charged to, by the first part of its route
_RESOURCES = {"app-manifests": "integration_manifest", "graphql": "graphql", "search": "search"}

_CREATION = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry"
    " your request again later. If you reach out to GitHub Support for help, please include the request ID."
)


class Pipeline:
    """Answers REST calls from a table of routes."""

    def __init__(self, hub: Hub, table: Table) -> None:
        self._hub = hub
        self.table = table

    async def answer(self, request: Request) -> Response:
        """The response to one call. Nothing a caller sends makes it raise."""
        # as it was sent: a slash inside a name is `%2F`, and ends no part of the path
        hub, path = self._hub, request.scope["raw_path"].decode("ascii", "replace")
        if path == "/api/graphql":  # beside /api/v3, not below it
            path = "/graphql"
        path = path.removeprefix("/api/v3") or "/"
        version = request.headers.get("x-github-api-version", versions.DEFAULT)
        headers: dict[str, str] = {}
        template = self.table.template_of(path) or path
        try:
            answer, template = await self._answer(request, path, version, headers)
        except Refusal as refusal:
            answer = Answer(refusal.status, refusal.body(), refusal.headers)
        except GitError as error:
            log.exception("rest.git_failed", path=path, error=str(error))
            answer = Answer(500, {"message": "Server Error"})
        version = version if version in versions.VERSIONS else versions.DEFAULT
        body = versions.shaped(answer.body, version)
        seen = body if answer.media.startswith("application/json") and not answer.empty else None
        for observer in hub.answer_observers:
            observer(template, request.method, answer.status, seen, version)
        return self._response(request, answer, body, headers | _common(answer, version))

    async def _answer(self, request: Request, path: str, version: str, headers: dict[str, str]) -> tuple[Answer, str]:
        hub, method = self._hub, request.method
        known = versions.VERSIONS[:1] if hub.options.enterprise else versions.VERSIONS
        if version not in known:
            raise Refusal(400, f"{version} is not a supported version. Supported versions: {', '.join(known)}.")
        if not request.headers.get("user-agent"):
            raise Refusal(403, _AGENT)
        faults = hub.faults.for_call(method, unquote(path))
        for fault in faults:
            await _suffer(fault)
        route, params = self._route(method, path)
        actor = authenticate(hub.store, hub.faults, request.headers.get("authorization"))
        budget = hub.limits.budget(actor, _RESOURCES.get(route.template.split("/")[1], "core"))
        if not hub.options.enterprise and route.template != "/rate_limit":
            _charge(budget, actor, headers)
        call = Call(
            hub=hub,
            method=method,
            path=path,
            template=route.template,
            params=params,
            query=dict(request.query_params),
            headers=request.headers,
            actor=actor,
            version=version,
        )
        locate(call)
        permit(call, route)
        if route.accepted:
            headers["x-accepted-github-permissions"] = route.accepted
        if method in ("POST", "PATCH", "PUT", "DELETE"):
            call.body = await _body(request)
        if route.creates_content and not hub.options.enterprise and not hub.limits.may_create(actor):
            about = {"documentation_url": f"{_DOCS}/rate-limits-for-the-rest-api#about-secondary-rate-limits"}
            raise Refusal(403, _CREATION, about, {"retry-after": "60"})
        result = route.handler(call)
        if inspect.isawaitable(result):
            result = await result
        if lost := next((fault for fault in faults if fault.kind == "lost_answer"), None):
            raise Refusal(lost.status, "Server Error")
        if isinstance(result, Listing):
            shown, links = paging.page(call, result)
            result = Answer(200, shown, links)
        if method in ("GET", "HEAD") and result.status == 200:
            tag = _etag(result, version, actor)
            headers["etag"] = tag
            if tag in [part.strip() for part in request.headers.get("if-none-match", "").split(",")]:
                # an unchanged answer is free for a caller who says who they are
                if actor is not ANONYMOUS:
                    budget.used = max(budget.used - 1, 0)
                    headers |= {} if hub.options.enterprise else budget.headers()
                return Answer(304, empty=True), route.template
        return result, route.template

    def _route(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """Paths by repository id are the same routes. Parameters are unquoted."""
        found = self.table.match(method, path)
        if found is None and path.startswith("/repositories/"):
            _, _, number, *rest = path.split("/", 3)
            found = self.table.match(method, "/repos/-/" + "/".join([number, *rest]))
        if found is None:
            raise not_found()
        route, params = found
        return route, {name: unquote(value) for name, value in params.items()}

    def _response(self, request: Request, answer: Answer, body: Any, headers: Mapping[str, str]) -> Response:
        if answer.empty or answer.status in (204, 304):
            return Response(status_code=answer.status, headers=dict(headers))
        content = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode(errors="replace")
        if request.method == "HEAD":
            content = b""
        return Response(content, answer.status, headers=dict(headers), media_type=answer.media)


def _charge(budget: Budget, actor: Actor, headers: dict[str, str]) -> None:
    if budget.remaining <= 0:
        who = f"installation ID {actor.installation.id}" if actor.installation else "user ID"
        message = f"API rate limit exceeded for {who}."
        raise Refusal(403, message, {"documentation_url": f"{_DOCS}/rate-limits-for-the-rest-api"}, budget.headers())
    budget.used += 1
    headers |= budget.headers()


async def _suffer(fault: Fault) -> None:
    """Let a fault hit the call before anything is done."""
    if fault.kind == "lost_answer":
        return
    if fault.kind == "slow":
        await asyncio.sleep(fault.seconds)
        return
    if fault.kind == "error":
        raise Refusal(fault.status, "Server Error" if fault.status >= 500 else "Fault")
    if fault.kind == "secondary_limit":
        status = fault.status if fault.status in (403, 429) else 403
        headers = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
        about = {"documentation_url": f"{_DOCS}/rate-limits-for-the-rest-api#about-secondary-rate-limits"}
        raise Refusal(status, _SECONDARY, about, headers)
    reset = int(time.time() + fault.seconds)
    spent = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-used": "5000"}
    raise Refusal(
        fault.status if fault.status in (403, 429) else 403,
        "API rate limit exceeded for installation.",
        {"documentation_url": f"{_DOCS}/rate-limits-for-the-rest-api"},
        spent | {"x-ratelimit-reset": str(reset), "x-ratelimit-resource": "core"},
    )


async def _body(request: Request) -> Any:
    raw = await request.body()
    if not raw.strip():
        return {}
    try:
        body = json.loads(raw)
    except ValueError:
        raise Refusal(400, "Problems parsing JSON") from None
    if not isinstance(body, dict | list):
        raise Refusal(400, "Body should be a JSON object")
    return body


def _etag(answer: Answer, version: str, actor: Actor) -> str:
    content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body, sort_keys=True).encode()
    # GitHub binds a tag to the token that asked: github/docs#34689
    who = actor.token.token if actor.token else actor.user.id if actor.user else 0
    return f'W/"{hashlib.sha256(content + f"{version} {who} {answer.headers}".encode()).hexdigest()}"'


def _common(answer: Answer, version: str) -> dict[str, str]:
    headers = {
        "x-github-request-id": uuid.uuid4().hex.upper()[:24],
        "x-github-media-type": "github.v3; format=json",
        "x-github-api-version-selected": version,
        "vary": "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding, Accept, X-Requested-With",
        "x-content-type-options": "nosniff",
    }
    if answer.status in (200, 201, 304):
        headers["cache-control"] = "private, max-age=60, s-maxage=60"
    return headers | dict(answer.headers)
