"""The HTTP surface: authentication, authorization, the verbs, lists in chunks and watches with bookmarks."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.k8s.cluster_double.api import Api
from tests.k8s.cluster_double.http import discovery, protobuf
from tests.k8s.cluster_double.http.rbac import User, allowed, refuse
from tests.k8s.cluster_double.objects.errors import Refused, bad_request, expired
from tests.k8s.cluster_double.objects.patches import APPLY
from tests.k8s.cluster_double.objects.resources import BY_KIND, BY_PATH, Resource
from tests.k8s.cluster_double.objects.selectors import field_matcher, label_matcher
from tests.k8s.cluster_double.objects.store import Change

Object = dict[str, Any]

# A real server sends a bookmark about once a minute.
BOOKMARK_SECONDS = 60.0
WATCH_SECONDS = 1800.0
READ_VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


@dataclass
class Surface:
    """State of the surface: who the tokens stand for, and what `pods/log` reads (`logs(pod uid, container) -> bytes`).

    `audit` are the users, verbs, API groups and resources of what was asked so far. `broken`: what one of the cluster's
    own parts ended with; every request is answered with it, rather than let somebody wait for that part.
    """

    api: Api
    users: dict[str, User]
    logs: Callable[[str, str], bytes]
    bookmark_seconds: float = BOOKMARK_SECONDS
    audit: set[tuple[str, str, str, str]] = field(default_factory=set)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    broken: BaseException | None = None


@dataclass(frozen=True)
class Target:
    """What a path names."""

    resource: Resource
    namespace: str
    name: str
    subresource: str

    @classmethod
    def read(cls, path: str) -> "Target":
        parts = [part for part in path.split("/") if part]
        group, version, rest = ("", parts[1], parts[2:]) if parts[0] == "api" else (parts[1], parts[2], parts[3:])
        namespace = ""
        if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in ("status", "finalize"):
            namespace, rest = rest[1], rest[2:]
        resource = BY_PATH.get((group, version, rest[0]))
        if resource is None:
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        return cls(resource, namespace, rest[1] if len(rest) > 1 else "", rest[2] if len(rest) > 2 else "")


def make_app(surface: Surface) -> Starlette:
    async def plain(request: Request) -> Response:
        return _discover(request.url.path)

    async def objects(request: Request) -> Response:
        try:
            if surface.broken is not None:
                raise Refused(500, "InternalError", f"a part of this cluster has ended: {surface.broken!r}")
            return await _handle(surface, request)
        except Refused as refused:
            return JSONResponse(refused.body(), refused.code)

    methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    return Starlette(
        routes=[
            *(Route(path, plain) for path in ("/version", "/api", "/apis", "/openapi/v3", "/openapi/v3/{rest:path}")),
            Route("/healthz", plain),
            Route("/readyz", plain),
            Route("/api/v1", plain),
            Route("/apis/{group}", plain),
            Route("/apis/{group}/{version}", plain),
            Route("/api/v1/{rest:path}", objects, methods=methods),
            Route("/apis/{group}/{version}/{rest:path}", objects, methods=methods),
        ]
    )


def _discover(path: str) -> Response:
    if path in ("/healthz", "/readyz"):
        return PlainTextResponse("ok")
    parts = path.strip("/").split("/")
    found: Object | None
    if path.startswith("/openapi/v3"):
        found = discovery.openapi_document("/".join(parts[2:])) if len(parts) > 2 else discovery.openapi_index()
    elif path in ("/version", "/api", "/apis"):
        found = {"/version": discovery.version, "/api": discovery.core_versions, "/apis": discovery.group_list}[path]()
    elif parts[0] == "api":
        found = discovery.resource_list("", parts[1])
    elif len(parts) == 2:
        found = next((item for item in discovery.group_list()["groups"] if item["name"] == parts[1]), None)
    else:
        found = discovery.resource_list(parts[1], parts[2])
    if found is None:
        return JSONResponse(Refused(404, "NotFound", f"the server could not find {path}").body(), 404)
    return JSONResponse(found)


async def _handle(surface: Surface, request: Request) -> Response:
    user = _user(surface, request)
    if request.url.path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
        return _review(surface, user, await _body(request))
    target, query = Target.read(request.url.path), request.query_params
    watching = request.method == "GET" and query.get("watch") in ("true", "1")
    verb = READ_VERBS[request.method]
    if not target.name and verb in ("get", "delete"):
        verb = "watch" if watching else {"get": "list", "delete": "deletecollection"}[verb]
    store = surface.api.store
    what = "/".join(filter(None, (target.resource.plural, target.subresource)))
    surface.audit.add((user.name, verb, target.resource.group, what))
    if not allowed(store, user, verb, target.resource.group, what, target.namespace, target.name):
        raise refuse(user, verb, target.resource, target.subresource, target.namespace, target.name)
    if verb == "list":
        return _list(surface, target, dict(query))
    if verb == "watch":
        return _watch(surface, target, dict(query))
    body = await _body(request) if request.method != "GET" else {}
    if target.subresource not in ("", "status"):
        return _subresource(surface, target, body, request.query_params.get("container", ""))
    return _object(surface, request, verb, target, body)


def _object(surface: Surface, request: Request, verb: str, target: Target, body: Any) -> Response:
    api, query = surface.api, request.query_params
    strict, dry = query.get("fieldValidation") == "Strict", query.get("dryRun") == "All"
    resource, namespace, name = target.resource, target.namespace, target.name
    media = request.headers.get("content-type", "").partition(";")[0]
    if verb == "get":
        return JSONResponse(api.store.get(resource, namespace, name))
    if verb == "create":
        return JSONResponse(api.create(resource, namespace, body, strict=strict, dry=dry), 201)
    if target.subresource == "status":
        if verb == "patch":
            body = api.store.get(resource, namespace, name) | {"status": body.get("status", {})}
        return JSONResponse(api.set_status(resource, namespace, name, body.get("status", {})))
    if verb == "update":
        return JSONResponse(api.update(resource, namespace, name, body, strict=strict))
    if media in APPLY:
        manager = query.get("fieldManager", "")
        force, there = query.get("force") == "true", api.store.find(resource, namespace, name) is not None
        made = api.apply(resource, namespace, name, body, manager, strict=strict, force=force, dry=dry)
        return JSONResponse(made, 200 if there else 201)
    if verb == "patch":
        return JSONResponse(api.patch(resource, namespace, name, body, media, strict=strict, dry=dry))
    options = body | ({"gracePeriodSeconds": int(query["gracePeriodSeconds"])} if "gracePeriodSeconds" in query else {})
    if verb == "deletecollection":
        matches = label_matcher(query.get("labelSelector", ""))
        for item in api.store.list(resource, namespace):
            if matches(item["metadata"].get("labels") or {}):
                api.delete(resource, namespace, item["metadata"]["name"], options)
        return JSONResponse({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"})
    return JSONResponse(api.delete(resource, namespace, name, options))


def _subresource(surface: Surface, target: Target, body: Any, container: str) -> Response:
    store = surface.api.store
    item = store.get(target.resource, target.namespace, target.name)
    if (target.resource.kind, target.subresource) == ("Pod", "log"):
        return Response(surface.logs(item["metadata"]["uid"], _container(item, container)), media_type="text/plain")
    if (target.resource.kind, target.subresource) == ("ServiceAccount", "token"):
        user = User.service_account(target.namespace, target.name, item["metadata"]["uid"])
        token = base64.urlsafe_b64encode(f"{user.name}:{item['metadata']['uid']}".encode()).decode()
        surface.users[token] = user
        return JSONResponse({**body, "kind": "TokenRequest", "status": {"token": token}}, 201)
    raise Refused(404, "NotFound", "the server could not find the requested resource")


def _container(pod: Object, asked: str) -> str:
    """The container whose log is asked for; it has to be named where there are several."""
    name, names = pod["metadata"]["name"], [str(each["name"]) for each in pod["spec"]["containers"]]
    if not asked and len(names) > 1:
        raise bad_request(f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]")
    if asked and asked not in names:
        raise bad_request(f"container {asked} is not valid for pod {name}")
    return asked or names[0]


def _user(surface: Surface, request: Request) -> User:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    user = surface.users.get(token.strip()) if scheme.lower() == "bearer" else None
    if user is None or (user.account and not _is_there(surface, user)):
        raise Refused(401, "Unauthorized", "Unauthorized")
    return user


def _is_there(surface: Surface, user: User) -> bool:
    *_, namespace, name = user.name.split(":")
    found = surface.api.store.find(BY_KIND["ServiceAccount"], namespace, name)
    return found is not None and found["metadata"]["uid"] == user.account


def _review(surface: Surface, user: User, body: Any) -> Response:
    asked = body["spec"]["resourceAttributes"]
    what = "/".join(filter(None, (asked.get("resource", ""), asked.get("subresource", ""))))
    group, namespace, name = asked.get("group", ""), asked.get("namespace", ""), asked.get("name", "")
    answer = allowed(surface.api.store, user, asked["verb"], group, what, namespace, name)
    return JSONResponse({**body, "status": {"allowed": answer}}, 201)


async def _body(request: Request) -> Any:
    raw = await request.body()
    if not raw:
        return {}
    media = request.headers.get("content-type", "").partition(";")[0]
    if media == protobuf.MEDIA:
        return protobuf.decode(raw)
    if not media.endswith(("json", "yaml")) and media:
        message = f"the body of the request was in an unknown format - accepted media types: JSON, YAML; got {media}"
        raise Refused(415, "UnsupportedMediaType", message)
    try:
        return yaml.safe_load(raw) if media.endswith("yaml") else json.loads(raw)
    except (ValueError, yaml.YAMLError) as error:
        raise bad_request(f"the body of the request cannot be read: {error}") from error


def _filter(query: dict[str, str]) -> Callable[[Object], bool]:
    labels, fields = label_matcher(query.get("labelSelector", "")), field_matcher(query.get("fieldSelector", ""))
    return lambda item: labels(item["metadata"].get("labels") or {}) and fields(item)


def _list(surface: Surface, target: Target, query: dict[str, str]) -> Response:
    store, resource = surface.api.store, target.resource
    asked = int(query.get("resourceVersion") or 0)
    if asked > store.version:
        store.since(asked)
    matches = _filter(query)
    items = [item for item in store.list(resource, target.namespace or None) if matches(item)]
    metadata: Object = {"resourceVersion": str(store.version)}
    limit, start = int(query.get("limit") or 0), 0
    if "continue" in query:
        start, version = _continued(query["continue"])
        metadata["resourceVersion"] = version
    if limit and len(items) > start + limit:
        token = f"{start + limit}:{metadata['resourceVersion']}"
        metadata["continue"] = base64.urlsafe_b64encode(token.encode()).decode()
    page = items[start : start + limit] if limit else items[start:]
    kind = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version}
    return JSONResponse({**kind, "metadata": metadata, "items": page})


def _continued(token: str) -> tuple[int, str]:
    try:
        start, version = base64.urlsafe_b64decode(token).decode().split(":")
        return int(start), version
    except ValueError as error:
        raise expired("The provided continue parameter is too old to display a consistent list result.") from error


def _watch(surface: Surface, target: Target, query: dict[str, str]) -> Response:
    store, version = surface.api.store, int(query.get("resourceVersion") or 0)
    matches = _filter(query)
    first: list[Object] = []
    if version == 0 or query.get("sendInitialEvents") == "true":
        first = [item for item in store.list(target.resource, target.namespace or None) if matches(item)]
        version = store.version
    store.since(version)
    return StreamingResponse(_events(surface, target, matches, first, version, query), media_type="application/json")


async def _events(
    surface: Surface,
    target: Target,
    matches: Callable[[Object], bool],
    first: list[Object],
    version: int,
    query: dict[str, str],
) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    ends = loop.time() + float(query.get("timeoutSeconds") or WATCH_SECONDS)
    bookmarks = query.get("allowWatchBookmarks") == "true"
    for item in first:
        yield _line("ADDED", item)
    if query.get("sendInitialEvents") == "true":
        yield _bookmark(target, version, {"annotations": {"k8s.io/initial-events-end": "true"}})
    bookmark_at = loop.time() + surface.bookmark_seconds
    while not surface.closing.is_set():
        changed = surface.api.store.next_change()
        try:
            changes = surface.api.store.since(version)
        except Refused as refused:
            yield _line("ERROR", refused.body())
            return
        for change in changes:
            version = change.version
            line = _event(change, target, matches)
            if line:
                yield line
        now = loop.time()
        if bookmarks and (now >= bookmark_at or now >= ends):
            bookmark_at = now + surface.bookmark_seconds
            yield _bookmark(target, version, {})
        if now >= ends:
            return
        await _first(changed, surface.closing, seconds=min(bookmark_at, ends) - now)


async def _first(*events: asyncio.Event, seconds: float) -> None:
    tasks = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def _event(change: Change, target: Target, matches: Callable[[Object], bool]) -> bytes | None:
    """What a watcher is told: an object that no longer matches is deleted for it, one that begins to is added."""
    if change.resource != target.resource:
        return None
    if target.namespace and change.item["metadata"].get("namespace") != target.namespace:
        return None
    if target.name and change.item["metadata"]["name"] != target.name:
        return None
    before = change.before is not None and matches(change.before)
    after = change.after is not None and matches(change.after)
    if after:
        return _line("MODIFIED" if before else "ADDED", change.item)
    return _line("DELETED", change.item) if before else None


def _bookmark(target: Target, version: int, more: Object) -> bytes:
    kind = {"kind": target.resource.kind, "apiVersion": target.resource.api_version}
    return _line("BOOKMARK", {**kind, "metadata": {"resourceVersion": str(version), **more}})


def _line(kind: str, item: Object) -> bytes:
    return json.dumps({"type": kind, "object": item}).encode() + b"\n"
