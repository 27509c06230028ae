"""Deliveries that may take down who reads them: large ones are read in another process, and what fails is put aside."""

import structlog

from github.apps.access import access_of
from github.client import errors
from github.client.repository import RepositoryHandle
from github.webhooks import triggers
from github.webhooks.events import BadPayload, parse
from github.webhooks.identity import Me
from github.webhooks.outcomes import Outcome, Request
from loops.comments import answers
from loops.context import Loop
from loops.offload import Withheld
from loops.requests.decision import Decision
from loops.requests.labels import was_ours
from loops.requests.replies import answer
from loops.store.quarantine import put_aside, reason_of
from loops.store.tables import Delivery

log = structlog.get_logger(__name__)

LARGE = 128 * 1024
"""Bytes from which reading a delivery would hold up the worker's other steps; nearly all are smaller."""
ASIDE = "it is put aside, because our processes fail over it"


async def understood(loop: Loop, delivery: Delivery, *, apart: bool = False) -> Outcome:
    """What the delivery means to us. `apart`: read in another process whatever its size.

    Raises BadPayload; Withheld where the other process fails.
    """
    body = delivery.body or b""
    if not apart and len(body) < LARGE:
        return read_delivery(delivery.event, body, loop.me)
    outcome = await loop.offload.run(delivery.installation_id, read_apart, delivery.event, body, loop.me)
    if isinstance(outcome, BadPayload):
        raise outcome
    return outcome


def read_apart(event: str, body: bytes, me: Me) -> Outcome | BadPayload:
    """In the other process: a payload that is none is an answer, not a failure."""
    try:
        return read_delivery(event, body, me)
    except BadPayload as error:
        return error


def read_delivery(event: str, body: bytes, me: Me) -> Outcome:
    """What a delivery means to us. Raises BadPayload."""
    return triggers.decide(parse(event, body), me)


async def set_aside(loop: Loop, delivery: Delivery, why: str) -> Decision:
    """Quarantine the delivery, and tell who waits for an answer to it."""
    async with loop.database.read() as tx:
        known = await reason_of(tx, "delivery", delivery.guid)
    await put_aside(loop.database, "delivery", delivery.guid, f"{delivery.event}: {why}", now=loop.clock())
    if known is None:  # else a process ended over the answer, too
        await say_so(loop, delivery, ASIDE, apart=True)
    return Decision("quarantined", why)


async def say_so(loop: Loop, delivery: Delivery, why: str, *, apart: bool = False) -> None:
    """Somebody waits for an answer, and something of ours is broken: that is the answer."""
    try:
        outcome = await understood(loop, delivery, apart=apart)
        if not isinstance(outcome, Request) or outcome.subject is None:
            return
        repo = RepositoryHandle(loop.github, outcome.repo.installation_id, outcome.repo.id, outcome.repo.full_name)
        if outcome.label and not await was_ours(loop, repo, outcome.label):
            return
        if (await access_of(repo, outcome.actor.login, outcome.actor.id)).may_write:
            await answer(repo, outcome, outcome.subject, answers.broken(why))
    except (BadPayload, Withheld, errors.GitHubError) as unsaid:
        log.warning("delivery.unanswered", guid=delivery.guid, error=str(unsaid))
