"""The App's own log of webhook deliveries at GitHub: how fresh it is, what failed, and asking for it again.

GitHub keeps three days (GitHub Enterprise Server seven) and never delivers again by itself. The list has no payloads,
so what nobody wants is left out before anything is fetched.
"""

from collections import Counter
from collections.abc import AsyncIterator, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from github.client.app import DELIVERY_LOG, GitHubApp
from github.client.errors import Gone, Invalid, NotFound
from github.client.tokens import timestamp
from github.webhooks.events import wanted

PER_PAGE = 100
FIRST_PAGE = f"app/hook/deliveries?per_page={PER_PAGE}"
MOST_TRIES = 10


@dataclass(frozen=True, slots=True)
class LoggedDelivery:
    """One try to deliver. All tries of an event share `guid`; `delivered_at` is Unix seconds."""

    id: int
    guid: str
    event: str
    action: str | None
    delivered_at: float
    ok: bool
    status: str
    status_code: int
    redelivery: bool
    installation_id: int
    repository_id: int


async def read_page(app: GitHubApp, address: str = FIRST_PAGE) -> tuple[list[LoggedDelivery], str | None]:
    """One page of the log, newest first, and the address of the next one."""
    answer = await app.as_app("GET", address, budget=DELIVERY_LOG)
    return [read_delivery(each) for each in answer.json()], answer.next_page


async def walk(app: GitHubApp, *, since: float) -> AsyncIterator[LoggedDelivery]:
    """The deliveries after the Unix time `since`, newest first."""
    address: str | None = FIRST_PAGE
    while address:
        page, address = await read_page(app, address)
        for delivery in page:
            if delivery.delivered_at <= since:
                return
            yield delivery


def missed(
    deliveries: Iterable[LoggedDelivery], seen: Container[str], asked: Mapping[str, int] | None = None
) -> list[LoggedDelivery]:
    """One delivery for each event that some rule could want and that never reached us, oldest first. Pure.

    `seen` holds the GUIDs in our inbox. An event is missed if it is not there, also where GitHub believes that it was
    delivered: an answer of ours may have been lost together with the disk it was written to. Leave out what was tried
    only a moment ago, which may still be on its way. What was delivered `MOST_TRIES` times in vain is given up; `asked`
    says how often each was asked for before.
    """
    latest: dict[str, LoggedDelivery] = {}
    tries: Counter[str] = Counter()
    for delivery in sorted(deliveries, key=lambda each: each.delivered_at):
        if delivery.guid not in seen and wanted(delivery.event, delivery.action):
            latest[delivery.guid] = delivery
            tries[delivery.guid] += 1
    before = asked or {}
    return [each for guid, each in latest.items() if max(tries[guid], 1 + before.get(guid, 0)) < MOST_TRIES]


async def payload(app: GitHubApp, delivery: LoggedDelivery) -> tuple[Mapping[str, str], Any]:
    """The headers and the payload that GitHub sent. Raises NotFound once the log has forgotten it."""
    request = (await app.as_app("GET", f"app/hook/deliveries/{delivery.id}", budget=DELIVERY_LOG)).json().get(
        "request"
    ) or {}
    return request.get("headers") or {}, request.get("payload")


async def redeliver(app: GitHubApp, delivery: LoggedDelivery) -> bool:
    """Ask GitHub to deliver again, under the same GUID; False if its log has forgotten it."""
    try:
        await app.as_app("POST", f"app/hook/deliveries/{delivery.id}/attempts", budget=DELIVERY_LOG)
    except (NotFound, Gone, Invalid):
        return False
    return True


def read_delivery(found: Mapping[str, Any]) -> LoggedDelivery:
    """A delivery from GitHub's list. `status` is "OK" or what went wrong."""
    status, code = str(found.get("status") or ""), int(found.get("status_code") or 0)
    return LoggedDelivery(
        id=int(found["id"]),
        guid=str(found.get("guid") or ""),
        event=str(found.get("event") or ""),
        action=found.get("action"),
        delivered_at=timestamp(str(found["delivered_at"])),
        ok=200 <= code < 300,
        status=status,
        status_code=code,
        redelivery=bool(found.get("redelivery")),
        installation_id=int(found.get("installation_id") or 0),
        repository_id=int(found.get("repository_id") or 0),
    )
