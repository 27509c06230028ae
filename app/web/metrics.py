"""Figures for Prometheus: counted as they happen, or asked of the database when somebody looks."""

import time
from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from sqlalchemy import Text, cast, func, literal_column, select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from app.gateway.figures import GatewayFigures
from app.web.signin.local import local
from k8s.boxes import BoxState
from k8s.runner import protocol
from loops.store import quarantine
from loops.store.database import Database
from loops.store.states import OPEN_SESSION, OPEN_TURN
from loops.store.tables import Delivery, Session, Turn

OTHER = "other"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

ENDED_SECONDS = 60.0
"""How long the counts of what has ended are good for where that is much: all of it is walked for them."""
MANY = 5_000


class Figures:
    """What the database knows, the same in every process. Times are seconds."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._ended: dict[type[Session] | type[Turn], tuple[float, dict[str, int]]] = {}
        self._sessions = Gauge("greenloop_sessions", "Sessions by status.", ["status"], registry=self.registry)
        self._turns = Gauge("greenloop_turns", "Turns by status.", ["status"], registry=self.registry)
        self._newest = Gauge(
            "greenloop_newest_delivery_age_seconds",
            "Age of the newest delivery; silence for long means that GitHub does not reach us.",
            registry=self.registry,
        )
        self._waiting = Gauge(
            "greenloop_deliveries_waiting", "Deliveries stored and not decided yet.", registry=self.registry
        )
        self._oldest = Gauge(
            "greenloop_queue_age_seconds",
            "How long the session or delivery that is due longest has been due.",
            registry=self.registry,
        )

        self._quarantined = Gauge(
            "greenloop_quarantined",
            "Deliveries, reports, outputs and logs put aside since processes fail over them, kept for 30 days.",
            ["kind"],
            registry=self.registry,
        )

    async def text(self, database: Database, now: float) -> bytes:
        """All figures in Prometheus' text format."""
        async with database.read() as tx:
            sessions = await self._by_status(tx, Session, OPEN_SESSION, now)
            turns = await self._by_status(tx, Turn, OPEN_TURN, now)
            newest = (await tx.execute(select(func.max(Delivery.received_at)))).scalar()
            free = (Delivery.status == "new", Delivery.lease_until.is_(None))
            waiting, oldest = (await tx.execute(select(func.count(), func.min(Delivery.due_at)).where(*free))).one()
            held = (Delivery.status == "new", Delivery.lease_until.is_not(None))
            waiting += (await tx.execute(select(func.count()).select_from(Delivery).where(*held))).scalar_one()
            due = [oldest, (await tx.execute(select(func.min(Session.due_at)).where(Session.due_at <= now))).scalar()]
            aside = await quarantine.counts(tx)
        self._quarantined.clear()
        for kind, count in aside.items():
            self._quarantined.labels(kind).set(count)
        for gauge, found in ((self._sessions, sessions), (self._turns, turns)):
            gauge.clear()
            for status, count in found.items():
                gauge.labels(status).set(count)
        self._newest.set(now - newest if newest is not None else float("nan"))
        self._waiting.set(waiting)
        self._oldest.set(max([0.0, *(now - at for at in due if at is not None)]))
        return generate_latest(self.registry)

    async def _by_status(
        self, tx: AsyncSession, table: type[Session] | type[Turn], still_open: Sequence[str], now: float
    ) -> dict[str, int]:
        """Rows by status: the open ones as they are; the others, where they are many, as they were a moment ago."""
        at, ended = self._ended.get(table, (0.0, {}))
        # as text: a status that only a newer version knows is one, too
        count = select(cast(table.status, Text), func.count()).group_by(table.status)
        if sum(ended.values()) < MANY or not 0 <= now - at < ENDED_SECONDS:
            found = await tx.execute(count.where(table.status.not_in(still_open)))
            ended = {str(status): many for status, many in found}
            self._ended[table] = (now, ended)
        # in words: what is not written out cannot be held against the condition of an index
        found = await tx.execute(count.where(table.status.in_([literal_column(f"'{each}'") for each in still_open])))
        return ended | {str(status): many for status, many in found}


class Metrics(Figures):
    """The figures of a web process. Sizes are bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.webhooks = Counter(
            "greenloop_webhooks", "Webhooks by what they were answered.", ["answer"], registry=self.registry
        )
        self.commits = Histogram(
            "greenloop_inbox_commit_seconds",
            "Time of one group commit of the inbox.",
            buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 2, 10),
            registry=self.registry,
        )
        self.batches = Histogram(
            "greenloop_inbox_batch",
            "Deliveries in one commit.",
            buckets=(1, 4, 16, 64, 256),
            registry=self.registry,
        )
        self.output = Counter("greenloop_output_bytes", "Agent output taken from boxes.", registry=self.registry)
        self.assignments = Counter("greenloop_turns_handed_out", "Turns given to boxes.", registry=self.registry)
        self.results = Counter(
            "greenloop_turn_results", "Results that boxes reported, by reason.", ["reason"], registry=self.registry
        )
        for reason in (*protocol.REASONS, OTHER):
            # what is counted for the first time rises from 0: of a series that begins with 1 Prometheus sees no rise
            self.results.labels(reason)
        self.watchers = Gauge("greenloop_page_watchers", "Open live streams.", registry=self.registry)
        self.gateways = GatewayFigures(self.registry)

    def count_result(self, reason: str) -> None:
        """Count a box's report; a reason that nobody knows makes no series of its own."""
        self.results.labels(reason if reason in protocol.REASONS else OTHER).inc()


class WorkerMetrics(Figures):
    """The figures of a worker."""

    def __init__(self) -> None:
        super().__init__()
        self.rounds = Counter(
            "greenloop_worker_rounds",
            "Rounds of the worker's parts: inbox, requests, sessions, looks, left, bell, upkeep, boxes, deliveries, "
            "retention; outcome ok, unreachable or failed.",
            ["part", "outcome"],
            registry=self.registry,
        )
        self.boxes_lost = Counter(
            "greenloop_boxes_lost",
            "Boxes lost with a turn in them, by what they came to.",
            ["state"],
            registry=self.registry,
        )
        for state in BoxState:
            self.boxes_lost.labels(state.value)

    def count_lost_box(self, state: str) -> None:
        """Count a box that a turn has lost."""
        self.boxes_lost.labels(state).inc()


async def metrics(request: Request) -> Response:
    """GET /metrics. Past this machine they are on a port of their own, which no ingress leads to (`--ops-port`)."""
    here = request.app.state.shared
    if not local(request, here.settings.public_url):
        return PlainTextResponse("The figures are for this machine; in a cluster they are on the --ops-port.\n", 403)
    return Response(await here.metrics.text(here.database, time.time()), media_type=CONTENT_TYPE)
