"""An account is tried: one cheap request to its model, on the way that the requests of a turn take."""

import asyncio
import secrets
import time
from dataclasses import dataclass
from typing import Final

import httpx
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from app.gateway.figures import GatewayFigures
from app.gateway.gateway import ModelGateway
from loops.accounts.credentials import kind_of
from loops.accounts.limited import lift
from loops.gateway.access import Caller, NotItsToken
from loops.gateway.trials import LONGEST, body_of, failure_of, path_of
from loops.runtimes import profiles, registry
from loops.runtimes.failures import ON, WORDS, Failure, FailureKind
from loops.runtimes.spec import RuntimeSpec
from loops.secrets.vault import Vault
from loops.store.database import Database
from loops.store.tables import Profile

SECONDS: Final = 90.0
"""After which a model that has not answered counts as unreachable."""
_NAME: Final = "trial"


class CannotTry(ValueError):
    """The account cannot be tried like that; the message says what to name."""


@dataclass(frozen=True)
class Tried:
    """What was asked, and what came of it: `failure` is None where the model answered."""

    runtime: str
    model: str
    seconds: float
    failure: Failure | None

    @property
    def sentence(self) -> str:
        """What came of it, for people."""
        asked = f"{self.model}, asked as {self.runtime} does"
        if self.failure is None:
            return f"ok: {asked}, answered in {self.seconds:.1f} s"
        return f"{self.failure.kind.value}: {WORDS[self.failure.kind].what} ({asked})"

    def details(self, *, operator: bool) -> list[str]:
        """What was said, how turns go on then, and what can be done."""
        if self.failure is None:
            return []
        words = WORDS[self.failure.kind]
        advice = words.operator if operator and words.operator else ""
        return [line for line in (self.failure.message[:500], ON[words.way], advice) if line]


async def try_account(
    database: Database, vault: Vault, account: Profile, *, runtime: str = "", model: str = ""
) -> Tried:
    """Ask the account's model as its first agent would, or as `runtime` does. Raises CannotTry.

    An account that was left alone for what its owner had to mend is used again once it answers.
    """
    agent = _agent(account, runtime)
    asked = agent.calls.asks_for(model or account.model or "") if agent.calls else ""
    if agent.calls is None or not asked:
        raise CannotTry(f'Which model "{agent.name}" would pick for this account is not known: add --model.')
    wire = agent.calls.wires(account.provider, bool(account.base_url))[0]
    token = secrets.token_urlsafe()
    caller = Caller(0, _NAME, asked, agent.calls, account, None)

    async def only(turn: str, given: str) -> Caller:
        if (turn, given) != (_NAME, token):
            raise NotItsToken(turn)
        return caller

    gateway = ModelGateway(database, vault, lambda model: None, callers=only)
    gateway.start(GatewayFigures(CollectorRegistry()))
    began = time.monotonic()
    try:
        transport = httpx.ASGITransport(_Bounded(Starlette(routes=gateway.routes())))
        async with asyncio.timeout(SECONDS), httpx.AsyncClient(transport=transport, base_url="http://gateway") as http:
            path, headers = path_of(wire, asked, _NAME), {"authorization": f"Bearer {token}"}
            told = await http.post(path, json=body_of(wire, asked), headers=headers, timeout=None)
        failure = failure_of(wire, agent.signs, told.status_code, told.headers, told.content)
    except TimeoutError:
        failure = Failure(FailureKind.NETWORK, f"no answer within {SECONDS:.0f} s")
    except _TooLong:
        failure = Failure(
            FailureKind.NETWORK, f"the endpoint answers more than {LONGEST} bytes to a question of a line"
        )
    finally:
        await gateway.close()
    if failure is None:
        async with database.write() as tx:
            if (row := await tx.get(Profile, account.id)) is not None:
                lift(row)
    return Tried(agent.name, asked, time.monotonic() - began, failure)


def _agent(account: Profile, runtime: str) -> RuntimeSpec:
    described = profiles.Profile(account.provider, kind_of(account), account.model or "", account.base_url or "")
    offered = profiles.runtimes_for(described)
    name = profiles.canonical(runtime)[0] if runtime else next(iter(offered), "")
    if not name or not profiles.can_drive(described, name):
        raise CannotTry(str(profiles.RefusedRuntimeError(described, name or "any")))
    return registry.get(name)


class _TooLong(Exception):
    """More than an answer to the trial may hold."""


class _Bounded:
    """An ASGI application whose answer is given up where it is too long: the client in front of it keeps all of it."""

    def __init__(self, app: Starlette) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        read = 0

        async def bounded(message: Message) -> None:
            nonlocal read
            read += len(message.get("body", b""))
            if read > LONGEST:
                raise _TooLong
            await send(message)

        await self._app(scope, receive, bounded)
