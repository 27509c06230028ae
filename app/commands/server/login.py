"""`greenloop login` and `greenloop logout`: a token of this person's, got by a code that they type on a page."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.common import one_line_errors

if TYPE_CHECKING:
    import httpx

ServerArgument = Annotated[str, typer.Argument(metavar="URL", help="The server, as https://greenloop.example.com.")]


def login(
    server: ServerArgument,
    token_stdin: Annotated[
        bool, typer.Option("--token-stdin", help="Read a token from standard input instead, as for a pipeline.")
    ] = False,
) -> None:
    """Log in at a server, so that `greenloop session` asks it: with a code that you type on one of its pages."""
    from app.commands.server.logins import Server, address, keep

    with one_line_errors():
        url = address(server)
        token = sys.stdin.readline().strip() if token_stdin else asyncio.run(_by_code(url))
        if not token:
            raise ValueError("there is no token on standard input")
        who = asyncio.run(_who(Server(url, token)))
        file = keep(Server(url, token))
        print(f"logged in at {url} as {who} ({file})", file=sys.stderr)


def logout(server: ServerArgument) -> None:
    """Have the server end the token that `login` got there, and forget it."""
    from app.commands.server.client import Client, ServerRefused
    from app.commands.server.logins import address, chosen, forget

    async def revoke(known: Any) -> None:
        client = Client(known)
        try:
            await client.post("/api/v1/me/revoke")
        finally:
            await client.aclose()

    with one_line_errors():
        url = address(server)
        known = chosen(url, {**_environment(), "GREENLOOP_TOKEN": ""})
        try:
            asyncio.run(revoke(known))
        except ServerRefused as error:
            print(f"greenloop: {error}", file=sys.stderr)
        forget(url)


def _environment() -> dict[str, str]:
    import os

    return dict(os.environ)


async def _who(server: Any) -> str:
    from app.commands.server.client import Client

    client = Client(server)
    try:
        found = await client.get("/api/v1/me")
        return str(found["login"] or found["kind"])
    finally:
        await client.aclose()


async def _by_code(url: str) -> str:
    import httpx

    async with httpx.AsyncClient(timeout=30) as http:
        try:
            return await device_flow(http, url, say=lambda text: print(text, file=sys.stderr, flush=True))
        except httpx.TransportError as error:
            raise ValueError(f"{url} does not answer: {str(error) or type(error).__name__}") from error


async def device_flow(
    http: "httpx.AsyncClient",
    url: str,
    *,
    say: Callable[[str], None],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> str:
    """A token by the device flow (RFC 8628). Raises ValueError with the way out."""
    begun = await http.post(f"{url}/api/v1/device/code")
    codes = _json(begun)
    if begun.status_code != 200:
        raise ValueError(f"{url}: {codes.get('detail') or 'it is no Greenloop that people log in at'}")
    say(f"Open {codes['verification_uri_complete']}\nand allow the code {codes['user_code']}")
    form = {
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
        "device_code": str(codes["device_code"]),
        "client_id": "greenloop",
    }
    interval = float(codes.get("interval", 5))
    while True:
        await sleep(interval)
        answer = await http.post(f"{url}/api/v1/device/token", data=form)
        told = _json(answer)
        if answer.status_code == 200:
            return str(told["access_token"])
        match told.get("error"):
            case "authorization_pending":
                continue
            case "slow_down":
                interval += 5
            case "access_denied":
                raise ValueError("it was refused on the page")
            case "expired_token":
                raise ValueError("nobody answered in time: log in again")
            case other if answer.status_code < 500:
                raise ValueError(f"{url} refuses the login: {other or answer.status_code}")


def _json(answer: "httpx.Response") -> dict[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
