"""What the HTTP surfaces of one process share."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from app.settings import Settings
from app.web.api.rights import Rights
from app.web.held_bodies import HeldBodies, uploads
from app.web.inbox import Inbox
from app.web.metrics import Metrics
from app.web.pages.shown_diff import ShownDiffs
from app.web.signin.gate import Gate
from loops.accounts.box_secrets import Credentials, FetchTokens
from loops.offload import Offload
from loops.protocol.output_groups import Outputs
from loops.secrets.turn_redactors import TurnRedactors
from loops.store.bus import Bus
from loops.store.database import Database


@dataclass(frozen=True)
class AppState:
    """Built by `app.web.app.create_app`. `stopping` is set when the server begins to shut down: what waits must answer.

    `box_key` is the secret that the tokens of boxes and turns are derived from. `bodies` are those in memory, `uploads`
    those on their way to disk. `redactors` know the service's own secrets too, which an agent in a box on the same
    machine could come by.
    """

    settings: Settings
    database: Database
    bus: Bus
    inbox: Inbox
    outputs: Outputs
    metrics: Metrics
    gate: Gate
    fetch_tokens: FetchTokens
    credentials: Credentials
    box_key: bytes
    redactors: TurnRedactors
    rights: Rights
    diffs: ShownDiffs = field(default_factory=ShownDiffs)
    offload: Offload = field(default_factory=Offload)
    bodies: HeldBodies = field(default_factory=HeldBodies)
    uploads: HeldBodies = field(default_factory=uploads)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    clock: Callable[[], float] = time.time


def app_state(connection: HTTPConnection) -> AppState:
    """The surface that a request came in at."""
    found: AppState = connection.app.state.shared
    return found
