"""The page of provider accounts: who is signed in has their own, and this machine all of them."""

import time
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from app.bodies import BodyTooLarge
from app.gateway.trial import CannotTry, try_account
from app.web.pages.forms import fields_of
from app.web.pages.render import page
from app.web.pages.sessions import visitor
from app.web.signin.gate import Visitor
from app.web.signin.routes import people
from app.web.state import AppState, app_state
from loops.accounts.accounts import NewAccount, account_of, add, listed, remove
from loops.accounts.box_secrets import CannotPrepare
from loops.accounts.logins import KINDS
from loops.runtimes import profiles
from loops.secrets.vault import Vault, VaultError
from loops.store.lookup import UnknownOwner
from loops.store.tables import Installation, Person, Profile, Repository

_AT: Final = "/accounts"


def routes() -> list[Route]:
    """Where people find it."""
    return [
        Route(_AT, people(index), methods=["GET"]),
        Route(_AT, people(keep), methods=["POST"]),
        Route(f"{_AT}/{{account:int}}/test", people(test), methods=["POST"]),
        Route(f"{_AT}/{{account:int}}/remove", people(forget), methods=["POST"]),
    ]


@dataclass(frozen=True)
class Message:
    """What came of a form."""

    text: str
    good: bool
    details: tuple[str, ...] = ()


async def index(request: Request) -> Response:
    """GET /accounts: those that whoever asks may know of."""
    return await _page(request)


async def keep(request: Request) -> Response:
    """POST /accounts: add one, or replace the one of its name."""
    who, here = visitor(request), app_state(request)
    if not _may_change(request):
        return _refused(request)
    try:
        form = await _form(request)
        wanted = _wanted(form, who)
        async with here.database.read() as tx:
            if wanted.installation not in (await _installations(tx, who)).values():
                raise ValueError(f"There is no installation on {wanted.installation!r} that you may use.")
        await add(here.database, _vault(here), wanted, time.time())
    except (ValueError, UnknownOwner, VaultError, BodyTooLarge) as error:
        return await _page(request, Message(str(error), good=False), 400)
    except ClientDisconnect:
        return Response(status_code=400)
    return RedirectResponse(_AT, 303, headers={"cache-control": "no-store"})


async def test(request: Request) -> Response:
    """POST /accounts/{account}/test: one cheap question to its model."""
    found = await _own(request)
    if isinstance(found, Response):
        return found
    here = app_state(request)
    try:
        tried = await try_account(here.database, _vault(here), found)
    except (CannotTry, CannotPrepare, VaultError) as error:
        return await _page(request, Message(f"{found.name}: {error}", good=False), 400)
    details = tuple(tried.details(operator=visitor(request).here))
    return await _page(request, Message(f"{found.name}: {tried.sentence}", tried.failure is None, details))


async def forget(request: Request) -> Response:
    """POST /accounts/{account}/remove: forget it and its secret."""
    found = await _own(request)
    if isinstance(found, Response):
        return found
    await remove(app_state(request).database, found.id)
    return RedirectResponse(_AT, 303, headers={"cache-control": "no-store"})


def _may_change(request: Request) -> bool:
    """By a form of ours, from somebody whom we know or from this machine: open pages are for looking."""
    who = visitor(request)
    return (who.id is not None or who.here) and app_state(request).gate.ours(request)


def _refused(request: Request) -> Response:
    text = "Accounts are changed from this page, by whoever is signed in or works on the service's own machine."
    return page("message.html", 403, who=visitor(request).login, title="Nothing was changed", text=text, again=False)


async def _own(request: Request) -> Profile | Response:
    """The account of the address, if it is theirs to change; else what they are answered."""
    if not _may_change(request):
        return _refused(request)
    who = visitor(request)
    found = await account_of(app_state(request).database, request.path_params["account"])
    if found is None or not (who.here or found.person_id == who.id):
        return page("missing.html", 404, who=who.login, path=request.url.path)
    return found


async def _form(request: Request) -> dict[str, str]:
    return {name: values[-1] for name, values in (await fields_of(request)).items()}


def _wanted(form: dict[str, str], who: Visitor) -> NewAccount:
    """Raises ValueError. By an endpoint people could have the service ask inside its own network: it is named here."""
    if form.get("base_url") and not who.here:
        raise ValueError("Endpoints are named by whoever runs the service: `greenloop profile add … --base-url`.")
    person = who.id if not who.here else form.get("person") or None
    if not form.get("name"):
        raise ValueError("The account needs a name.")
    return NewAccount(
        installation=form.get("installation", ""),
        name=form["name"][:100],
        provider=form.get("provider", ""),
        credential_kind=form.get("kind", "api_key"),
        secret=form.get("secret", ""),
        person=person,
        model=form.get("model") or None,
        base_url=form.get("base_url") or None,
        default="default" in form,
        fallback=form.get("fallback") or None,
    )


def _vault(here: AppState) -> Vault:
    return Vault(here.settings.encryption_key_list())


async def _installations(tx: AsyncSession, who: Visitor) -> dict[int, str]:
    """Logins of those whose repositories they see."""
    query = select(Installation.id, Installation.account_login).where(Installation.removed_at.is_(None))
    if who.repositories is not None:
        seen = select(Repository.installation_id).where(Repository.id.in_(sorted(who.repositories)[-30_000:]))
        query = query.where(Installation.id.in_(seen))
    found = await tx.execute(query.order_by(Installation.account_login))
    return {row.id: row.account_login for row in found}


async def _page(request: Request, message: Message | None = None, status: int = 200) -> Response:
    here, who = app_state(request), visitor(request)
    async with here.database.read() as tx:
        installations = await _installations(tx, who)
        names = dict((await tx.execute(select(Person.id, Person.login))).all()) if who.here else {who.id: who.login}
    rows = [
        (
            each,
            installations.get(each.installation_id, str(each.installation_id)),
            "everybody" if each.person_id is None else names.get(each.person_id, f"person {each.person_id}"),
            who.here or (who.id is not None and each.person_id == who.id),
        )
        for each in await listed(here.database)
        if who.here or (each.installation_id in installations and each.person_id in (None, who.id))
    ]
    return page(
        "accounts.html",
        status,
        who=who.login,
        rows=rows,
        message=message,
        now=time.time(),
        may_add=who.here or who.id is not None,
        here=who.here,
        installations=list(installations.values()),
        providers=profiles.providers(),
        kinds=KINDS,
    )
