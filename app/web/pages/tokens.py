"""The page of personal tokens: whoever is signed in makes, sees and revokes their own."""

from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from app.bodies import BodyTooLarge
from app.web.pages.forms import days_of, fields_of
from app.web.pages.render import page
from app.web.pages.sessions import visitor
from app.web.signin.gate import Visitor
from app.web.signin.routes import people
from app.web.state import app_state
from github.webhooks.outcomes import Actor
from loops.accounts.personal_tokens import DAYS, DEFAULT_DAYS, NAME, SCOPES, create, listed, revoke
from loops.sessions.known_accounts import remember_person
from loops.store.tables import Person

SURFACE: Final = "page"
_AT: Final = "/tokens"


def routes() -> list[Route]:
    """Where people find it."""
    return [
        Route(_AT, people(index), methods=["GET"]),
        Route(_AT, people(make), methods=["POST"]),
        Route(f"{_AT}/{{token:int}}/revoke", people(end), methods=["POST"]),
    ]


async def index(request: Request) -> Response:
    """GET /tokens: those of whoever asks."""
    return await _page(request)


async def make(request: Request) -> Response:
    """POST /tokens: a new one, which this answer alone shows."""
    if (person := signed_in(request)) is None:
        return refused(request)
    try:
        form = await fields_of(request)
        days = days_of(form)
        here = app_state(request)
        now = here.clock()
        async with here.database.write() as tx:
            await remember_person(tx, Actor(person.id, person.login), now)
            owner = await tx.get_one(Person, person.id)
            name, scopes = form.get("name", [""])[-1], form.get("scope", [])
            made = await create(tx, owner, name=name, scopes=scopes, days=days, surface=SURFACE, now=now)
    except (ValueError, BodyTooLarge) as error:
        return await _page(request, refusal=str(error), status=400)
    except ClientDisconnect:
        return Response(status_code=400)
    return await _page(request, made=made)


async def end(request: Request) -> Response:
    """POST /tokens/{token}/revoke: it is refused from now on."""
    if (person := signed_in(request)) is None:
        return refused(request)
    here = app_state(request)
    async with here.database.write() as tx:
        owner = await tx.get(Person, person.id)
        number = request.path_params["token"]
        done = owner is not None and await revoke(tx, owner, number, surface=SURFACE, now=here.clock())
    if not done:
        return page("missing.html", 404, who=person.login, path=request.url.path)
    return RedirectResponse(_AT, 303, headers={"cache-control": "no-store"})


def signed_in(request: Request) -> Actor | None:
    """Who sent a form of ours; None for somebody else's form, and for whom we do not know by name."""
    who: Visitor = visitor(request)
    if who.id is None or not app_state(request).gate.ours(request):
        return None
    return Actor(who.id, who.login)


def refused(request: Request) -> Response:
    """What is answered where `signed_in` knows nobody."""
    text = "A token acts for a person: they make it themselves, signed in, on a page of Greenloop."
    return page("message.html", 403, who=visitor(request).login, title="Nothing was changed", text=text, again=False)


async def _page(request: Request, *, made: str = "", refusal: str = "", status: int = 200) -> Response:
    here, who = app_state(request), visitor(request)
    rows = []
    if who.id is not None:
        async with here.database.read() as tx:
            rows = list(await listed(tx, who.id, here.clock()))
    return page(
        "tokens.html",
        status,
        who=who.login,
        rows=rows,
        made=made,
        refusal=refusal,
        may_make=who.id is not None,
        scopes=SCOPES,
        days=DAYS,
        default_days=DEFAULT_DAYS,
        name_length=NAME,
    )
