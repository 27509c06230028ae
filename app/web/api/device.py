"""Where a program without a browser gets a person's token (RFC 8628): it asks for codes, and comes until its person
has answered on the page /device."""

from typing import Any, Final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.bodies import BodyTooLarge, body_of
from app.web.api.problems import Problem, answer
from app.web.state import AppState, app_state
from loops.accounts.device_login import SECONDS, begin, collect, user_code_of
from loops.accounts.personal_tokens import TokenRefused

CODES: Final = "/api/v1/device/code"
TOKENS: Final = "/api/v1/device/token"
PAGE: Final = "/device"
INTERVAL: Final = 5
"""Seconds between two questions of a program."""
GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
NAME: Final = "command line"
_FORM_BYTES: Final = 4096
_QUIET: Final = {"cache-control": "no-store"}


def routes() -> list[Route]:
    """Both are for programs that have no token yet."""
    return [Route(CODES, codes, methods=["POST"]), Route(TOKENS, token, methods=["POST"])]


async def codes(request: Request) -> Response:
    """POST /api/v1/device/code: what the program keeps, what its person types, and where."""
    here = app_state(request)
    if here.gate.signin is None:
        return answer(
            Problem(404, "nobody signs in at this Greenloop, so there are no tokens of people: use GREENLOOP_API_TOKEN")
        )
    made = begin(here.box_key, here.clock())
    page = here.gate.public_url + PAGE
    told = {
        "device_code": made.device,
        "user_code": made.user,
        "verification_uri": page,
        "verification_uri_complete": f"{page}?code={made.user}",
        "expires_in": SECONDS,
        "interval": INTERVAL,
    }
    return JSONResponse(told, headers=_QUIET)


async def token(request: Request) -> Response:
    """POST /api/v1/device/token: the token, or in OAuth's words why there is none yet."""
    try:
        form = parse_qs((await body_of(request, _FORM_BYTES)).decode("utf-8", "replace"), max_num_fields=20)
    except (BodyTooLarge, ValueError):
        return _refused("invalid_request")
    if form.get("grant_type") != [GRANT]:
        return _refused("unsupported_grant_type")
    told = await _collected(app_state(request), form.get("device_code", [""])[-1])
    return _refused(told) if isinstance(told, str) else JSONResponse(told, headers=_QUIET)


async def _collected(here: AppState, device: str) -> dict[str, Any] | str:
    """What came of it: the token as OAuth tells it, or the word for why there is none."""
    now = here.clock()
    user = user_code_of(here.box_key, device, now)
    if not user:
        return "invalid_grant" if user is None else "expired_token"
    try:
        async with here.database.write() as tx:
            found = await collect(tx, user, name=NAME, now=now)
    except TokenRefused:  # too many already: the page says so, where the answer is given
        return "access_denied"
    if found is None:
        return "authorization_pending"
    if found.token is None:
        return "access_denied"
    return {
        "access_token": found.token,
        "token_type": "bearer",
        "expires_in": found.seconds,
        "scope": " ".join(found.scopes),
    }


def _refused(word: str) -> Response:
    return JSONResponse({"error": word}, 400, headers=_QUIET)
