"""The control API of the demo and of tests in other processes: `/_local/…`, JSON in, JSON out, no token.

POST /_local/users          {"login", "name"?, "email"?, "type"?}                 -> {"id", "login", "token"}
POST /_local/repositories   {"full_name", "from_dir"?, "default_branch"?, "private"?}
POST /_local/permissions    {"repository", "login", "role"}
POST /_local/installations  {"owner", "repositories"?, "permissions"?, "events"?}  -> {"id"}
POST /_local/webhook        {"url", "secret"?, "content_type"?}
POST /_local/callbacks      {"urls"}: where people come back to after they let the App act for them
POST /_local/faults         {"kind", …}; GET lists; DELETE clears
POST /_local/clock          {"advance"?: seconds, "offset"?: seconds ahead of this machine}
POST /_local/protections    {"repository", "branch", "contexts"?, "strict"?, "approvals"?, "refuse_pushes"?}
POST /_local/rulesets       {"repository", "name", "include", "rules", "exclude"?}
POST /_local/mails          {"repository", "number", "login", "text", "header"?}: a comment by mail, with its quote
POST /_local/schedule       {"repository"}: starts what is scheduled there       -> {"runs"}
POST /_local/environments   {"repository", "environment"}: its jobs wait for an approval
GET  /_local/state          everything there is, in short
"""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from github.emulator.administration.admin import Admin

Json = dict[str, Any]


def _user(local: Admin, body: Json) -> Json:
    if body.get("type") == "Organization":
        user = local.add_organization(body["login"])
    else:
        user = local.add_user(body["login"], body.get("name"), body.get("email"))
    return {"id": user.id, "login": user.login, "token": user.token}


def _repository(local: Admin, body: Json) -> Json:
    row = local.add_repository(
        body["full_name"], body.get("from_dir"), body.get("default_branch"), body.get("private", True)
    )
    return {"id": row.id, "full_name": row.full_name, "clone_url": f"{local.web_url}/{row.full_name}.git"}


def _permission(local: Admin, body: Json) -> Json:
    local.set_permission(body["repository"], body["login"], body["role"])
    return body


def _installation(local: Admin, body: Json) -> Json:
    row = local.install(body["owner"], body.get("repositories"), body.get("permissions"), body.get("events"))
    return {"id": row.id}


def _webhook(local: Admin, body: Json) -> Json:
    local.set_webhook(body["url"], body.get("secret"))
    local.app.hook.content_type = body.get("content_type", local.app.hook.content_type)
    return {"url": local.app.hook.url}


def _callbacks(local: Admin, body: Json) -> Json:
    local.set_callback(*body["urls"])
    return {"urls": local.app.callback_urls}


def _fault(local: Admin, body: Json) -> Json:
    return {"id": local.add_fault(**body).id}


def _clock(local: Admin, body: Json) -> Json:
    if "offset" in body:
        local.hub.clock.set_offset(float(body["offset"]))
    local.hub.clock.advance(float(body.get("advance", 0)))
    return {"now": local.hub.clock.now().isoformat()}


def _protection(local: Admin, body: Json) -> Json:
    options = {key: value for key, value in body.items() if key not in ("repository", "branch")}
    local.protect(body["repository"], body["branch"], **options)
    return body


def _mail(local: Admin, body: Json) -> Json:
    row = local.mail(body["repository"], body["number"], body["login"], body["text"], body.get("header"))
    return {"id": row.id, "body": row.body}


def _schedule(local: Admin, body: Json) -> Json:
    return {"runs": local.schedule(body["repository"])}


def _environment(local: Admin, body: Json) -> Json:
    local.guard_environment(body["repository"], body["environment"])
    return body


def _ruleset(local: Admin, body: Json) -> Json:
    row = local.add_ruleset(body["repository"], body["name"], body["include"], body["rules"], body.get("exclude") or [])
    return {"id": row.id}


def state(local: Admin) -> Json:
    """Everything there is, in short: enough for a person or a test to find it."""
    store = local.store
    return {
        "app": {"id": local.app.id, "slug": local.app.slug, "webhook": local.app.hook.url},
        "users": [{"login": u.login, "id": u.id, "type": u.type} for u in store.users],
        "repositories": [{"id": r.id, "full_name": r.full_name, "private": r.private} for r in store.repositories],
        "installations": [
            {"id": i.id, "account": i.account.login, "suspended": i.suspended_at is not None}
            for i in store.installations
        ],
        "issues": [
            {"repository": i.repository.full_name, "number": i.number, "title": i.title, "state": i.state}
            | ({"draft": i.pull.draft, "head": i.pull.head_ref, "sha": i.pull.head_sha} if i.pull else {})
            for i in store.issues
        ],
        "runs": [
            {"id": r.id, "name": r.name, "event": r.event, "status": r.status, "conclusion": r.conclusion}
            for r in store.runs
        ],
        "deliveries": [
            {"guid": d.guid, "event": d.event, "action": d.action, "status": d.status} for d in store.deliveries
        ],
        "notifications": [{"login": n.user.login, "reason": n.reason, "url": n.url} for n in store.notifications],
        "faults": local.hub.faults.listed(),
        "busy": local.hub.hooks.busy or local.hub.ci.busy,
    }


_ACTS: dict[str, Callable[[Admin, Json], Json]] = {
    "users": _user,
    "repositories": _repository,
    "permissions": _permission,
    "installations": _installation,
    "webhook": _webhook,
    "callbacks": _callbacks,
    "faults": _fault,
    "clock": _clock,
    "protections": _protection,
    "rulesets": _ruleset,
    "mails": _mail,
    "schedule": _schedule,
    "environments": _environment,
}


def routes(local: Admin) -> list[Route]:
    """The routes below `/_local`. A wrong body answers 400 with what was wrong."""

    def endpoint(act: Callable[[Admin, Json], Json]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                return JSONResponse(act(local, await request.json()), 201)
            except (KeyError, TypeError, ValueError) as error:
                return JSONResponse({"message": f"{type(error).__name__}: {error}"}, 400)

        return answer

    async def show(_: Request) -> Response:
        return JSONResponse(state(local))

    async def faults(request: Request) -> Response:
        if request.method == "DELETE":
            local.hub.faults.clear()
        return JSONResponse(local.hub.faults.listed())

    return [
        Route("/_local/state", show),
        Route("/_local/faults", faults, methods=["GET", "DELETE"]),
        *[Route(f"/_local/{name}", endpoint(act), methods=["POST"]) for name, act in _ACTS.items()],
    ]
