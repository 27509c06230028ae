"""/signin, /signin/callback and /signout, and what stands before every page."""

import contextlib
import hmac
import re
from collections.abc import Awaitable, Callable
from urllib.parse import quote

import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from app.web.pages.render import page
from app.web.signin.cookies import FLOW, PERSON
from app.web.signin.gate import CALLBACK, Closed, NotSignedIn
from app.web.state import app_state
from github.apps.signin import Flow, SignInRefused
from github.client.errors import GitHubError

log = structlog.get_logger(__name__)

FLOW_SECONDS = 600
SESSION_SECONDS = 8 * 3600

Handler = Callable[[Request], Awaitable[Response]]
_PATH = re.compile(r"/(?![/\\])[!-~]{0,500}")


def routes() -> list[Route]:
    """Where people sign in and out."""
    return [
        Route("/signin", begin, methods=["GET"]),
        Route(CALLBACK, come_back, methods=["GET"]),
        Route("/signout", end, methods=["POST"]),
    ]


def people(handler: Handler, *, stream: bool = False) -> Handler:
    """`handler` for people who may see the pages; it finds them in `request.state.visitor`.

    A `stream` answers 401 where a page leads to GitHub: a script cannot follow there.
    """

    async def guarded(request: Request) -> Response:
        try:
            request.state.visitor = await app_state(request).gate.visitor(request)
        except NotSignedIn:
            if stream:
                return Response(status_code=401)
            where = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            return RedirectResponse(f"/signin?next={quote(where)}", 303, headers={"cache-control": "no-store"})
        except Closed as error:
            return _message("The pages are closed", str(error), 403)
        except GitHubError as error:
            log.warning("signin.github_failed", error=str(error))
            return _message(
                "GitHub does not answer", "Without it we cannot tell what you may see. Try again soon.", 503
            )
        return await handler(request)

    return guarded


async def begin(request: Request) -> Response:
    """GET /signin?next=PATH: to GitHub."""
    gate = app_state(request).gate
    if gate.signin is None:
        return _message("There is no sign-in here", "The pages of this Greenloop are open to this machine only.", 404)
    flow, now = Flow.begin(), gate.clock()
    response = RedirectResponse(
        gate.signin.address(flow, gate.redirect_uri), 303, headers={"cache-control": "no-store"}
    )
    kept = {"state": flow.state, "verifier": flow.verifier, "next": _inside(request.query_params.get("next", "/"))}
    gate.cookies.write(response, FLOW, kept, now=now, until=now + FLOW_SECONDS)
    return response


async def come_back(request: Request) -> Response:
    """GET /signin/callback: from GitHub, with a code or with the reason why not."""
    gate, query = app_state(request).gate, request.query_params
    if gate.signin is None:
        return _message("There is no sign-in here", "The pages of this Greenloop are open to this machine only.", 404)
    kept = gate.cookies.read(request, FLOW, gate.clock())
    if kept is None or not hmac.compare_digest(str(kept["state"]).encode(), query.get("state", "").encode()):
        return _again("This sign-in was not begun in this browser, or more than ten minutes ago.", 400)
    if "code" not in query:
        said = query.get("error_description") or query.get("error") or "GitHub sent no code."
        return _again(said[:300], 403)
    try:
        token = await gate.signin.exchange(query["code"], Flow(kept["state"], kept["verifier"]), gate.redirect_uri)
        person, login = await gate.signin.who(token.token)
    except SignInRefused as error:
        log.warning("signin.refused", error=str(error))
        return _again(str(error), 403)
    except GitHubError as error:
        log.warning("signin.github_failed", error=str(error))
        return _again("GitHub does not answer.", 503)
    log.info("signin.done", person=person, login=login)
    response = RedirectResponse(_inside(str(kept["next"])), 303, headers={"cache-control": "no-store"})
    now = gate.clock()
    until = min(token.expires_at, now + SESSION_SECONDS)
    gate.cookies.write(response, PERSON, {"id": person, "login": login, "token": token.token}, now=now, until=until)
    gate.cookies.drop(response, FLOW)
    return response


async def end(request: Request) -> Response:
    """POST /signout: end the token at GitHub and forget the person."""
    gate = app_state(request).gate
    if gate.signin is None or not gate.ours(request):
        return _message("Not signed out", "The request did not come from a page of Greenloop.", 403)
    known = gate.cookies.read(request, PERSON, gate.clock())
    if known is not None:
        gate.readers.forget(int(known["id"]), str(known["token"]))
        with contextlib.suppress(GitHubError):
            await gate.signin.end(str(known["token"]))
    response = _message("Signed out", "", 200, again=True)
    gate.cookies.drop(response, PERSON)
    return response


def _inside(path: str) -> str:
    """A path of ours, else the first page: nobody is led elsewhere."""
    return path if _PATH.fullmatch(path) else "/"


def _again(text: str, status: int) -> Response:
    return _message("Not signed in", text, status, again=True)


def _message(title: str, text: str, status: int, *, again: bool = False) -> Response:
    return page("message.html", status, title=title, text=text, again=again)
