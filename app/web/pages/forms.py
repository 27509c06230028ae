"""Forms of the pages: their fields, and that one of ours was sent by somebody whom we know."""

from typing import Final
from urllib.parse import parse_qs

from starlette.requests import Request

from app.bodies import body_of, declared

FORM_BYTES: Final = 256 * 1024
"""Of a form: the largest logins have a few kB."""
FIELDS: Final = 20


def days_of(form: dict[str, list[str]]) -> int:
    """How many days a token lasts. Raises ValueError."""
    text = form.get("days", [""])[-1]
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise ValueError("How many days does the token last? A whole number is needed.")
    return int(text)


async def fields_of(request: Request) -> dict[str, list[str]]:
    """What was filled in, by the names of the fields. Raises BodyTooLarge, starlette's ClientDisconnect, and ValueError
    for more fields than any form has."""
    body = (await body_of(request, declared(request, FORM_BYTES))).decode("utf-8", "replace")
    told = parse_qs(body, max_num_fields=FIELDS)
    return {name: [value.strip() for value in values] for name, values in told.items()}
