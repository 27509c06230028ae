"""The page on which a person lets a program act for them, by the code that it shows."""

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from app.bodies import BodyTooLarge
from app.web.api.device import PAGE
from app.web.pages.forms import days_of, fields_of
from app.web.pages.render import page
from app.web.pages.sessions import visitor
from app.web.pages.tokens import refused, signed_in
from app.web.signin.routes import people
from app.web.state import app_state
from loops.accounts.device_login import approve
from loops.accounts.personal_tokens import DAYS, DEFAULT_DAYS, SCOPES, check
from loops.sessions.known_accounts import remember_person
from loops.store.tables import Person

LONGEST = 40


def routes() -> list[Route]:
    """Where people find it."""
    return [Route(PAGE, people(ask), methods=["GET"]), Route(PAGE, people(take), methods=["POST"])]


async def ask(request: Request) -> Response:
    """GET /device?code=CODE: what the program would get."""
    return _page(request, request.query_params.get("code", "")[:LONGEST])


async def take(request: Request) -> Response:
    """POST /device: the person's answer."""
    if (person := signed_in(request)) is None:
        return refused(request)
    here, code = app_state(request), ""
    try:
        form = await fields_of(request)
        code = form.get("code", [""])[-1][:LONGEST]
        allowed = form.get("answer", [""])[-1] == "allow"
        scopes, days = form.get("scope", []), days_of(form)
        now = here.clock()
        async with here.database.write() as tx:
            await remember_person(tx, person, now)
            owner = await tx.get_one(Person, person.id)
            if allowed:
                await check(tx, owner, scopes=scopes, days=days, now=now)
            await approve(tx, owner, code, scopes=scopes if allowed else None, days=days, now=now)
    except (ValueError, BodyTooLarge) as error:
        return _page(request, code, str(error), 400)
    except ClientDisconnect:
        return Response(status_code=400)
    title = "Allowed" if allowed else "Refused"
    text = (
        "Go back to the program. What it may is on the page Tokens, and ends there." if allowed else "It gets no token."
    )
    return page("message.html", who=person.login, title=title, text=text, again=False)


def _page(request: Request, code: str, refusal: str = "", status: int = 200) -> Response:
    who = visitor(request)
    return page(
        "device.html",
        status,
        who=who.login,
        code=code,
        refusal=refusal,
        may_make=who.id is not None,
        scopes=SCOPES,
        days=DAYS,
        default_days=DEFAULT_DAYS,
    )
