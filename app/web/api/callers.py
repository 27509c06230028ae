"""Who calls: a person by a token of theirs, or whoever runs the service by `GREENLOOP_API_TOKEN`."""

import hmac
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from app.web.api.problems import Problem
from app.web.api.rights import Who
from app.web.state import AppState, app_state
from loops.accounts.personal_tokens import USED_SECONDS, holder, note_use

OPERATOR = "operator"


@dataclass(frozen=True)
class Caller:
    """`person` is None for whoever runs the service, who may do everything in every installation."""

    person: Who | None = None
    scopes: frozenset[str] = frozenset()
    token_id: int = 0

    @property
    def key(self) -> str:
        """Tells callers apart."""
        return OPERATOR if self.person is None else f"person:{self.person.id}"

    def needs(self, scope: str) -> None:
        """Raises Problem where the token was not made for that."""
        if self.person is not None and scope not in self.scopes:
            raise Problem(403, f"this token was made without the scope {scope}: make another one, with it")


async def caller_of(connection: HTTPConnection) -> Caller:
    """Who sent the bearer token. Raises Problem: 401, or 404 where there are no tokens at all."""
    here = app_state(connection)
    operators = here.settings.api_token_text()
    if not operators and here.gate.signin is None:
        raise Problem(404, "the API is off: set GREENLOOP_API_TOKEN, or have people sign in and make tokens of theirs")
    scheme, _, text = connection.headers.get("authorization", "").partition(" ")
    given = text.strip()
    if scheme.lower() == "bearer" and given:
        if operators and hmac.compare_digest(given.encode(), operators.encode()):
            return Caller()
        if (found := await _person(here, given)) is not None:
            return found
    raise Problem(401, "the bearer token is missing, wrong, revoked or over", headers={"www-authenticate": "Bearer"})


async def _person(here: AppState, token: str) -> Caller | None:
    now = here.clock()
    async with here.database.read() as tx:
        found = await holder(tx, token, now)
    if found is None:
        return None
    if found.used_at is None or found.used_at < now - USED_SECONDS:
        async with here.database.write() as tx:
            await note_use(tx, found.token_id, now)
    return Caller(Who(found.person_id, found.login), found.scopes, found.token_id)
