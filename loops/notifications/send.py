"""Sends what is due to the operator's hooks. Dying in the middle sends a message again, under the same id."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import httpx
import structlog
from sqlalchemy import delete, func, select, update

from loops.notifications.hooks import BadHooks, Hook, named, read_hooks
from loops.notifications.message import News, message, pause
from loops.operations import Unknown, brief_of
from loops.options import LoopOptions
from loops.store.database import Database
from loops.store.notification_tables import Notification
from loops.store.service_state import by_one_process

log = structlog.get_logger(__name__)

KEY = "notifications"
MOST = 100
"""Messages of one round."""
AT_ONCE = 8
ROUND_SECONDS = 1.0
TIMEOUT = httpx.Timeout(15.0, connect=5.0)
"""Standard Webhooks lets a receiver take 15 to 30 s."""
GONE = 410
"""The receiver wants nothing more: it is not tried again."""


@dataclass(frozen=True)
class Answer:
    """What came of one POST. `error` None: it was taken; `again`: it may be in a later try."""

    error: str | None = None
    again: bool = True
    retry_after: str | None = None


async def send_due(database: Database, options: LoopOptions, *, clock: Callable[[], float] = time.time) -> int:
    """One round: how many messages were tried. Nothing while another process is at it, or the hooks cannot be read."""
    if options.hooks_file is None:
        return 0
    due = select(Notification).where(Notification.due_at <= clock()).order_by(Notification.due_at).limit(MOST)
    async with database.read() as tx:
        if (await tx.execute(due.limit(1))).first() is None:
            return 0
    try:
        hooks = read_hooks(options.hooks_file)
    except BadHooks as error:
        log.warning("notifications.wait", why=str(error))
        return 0
    async with by_one_process(database, KEY, clock=clock) as mine:
        if not mine:
            return 0
        async with database.read() as tx:
            rows = list((await tx.execute(due)).scalars())
        async with httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=False) as http:
            round = _Round(database, options.public_url, clock, http, hooks)
            async with asyncio.TaskGroup() as group:
                for row in rows:
                    group.create_task(_tell(round, row))
    return len(rows)


@dataclass
class _Round:
    """One round. `silent`: hooks that did not answer in it, which are not waited for once more."""

    database: Database
    public_url: str
    clock: Callable[[], float]
    http: httpx.AsyncClient
    hooks: Sequence[Hook]
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    silent: set[str] = field(default_factory=set)


async def _tell(round: _Round, row: Notification) -> None:
    news = await _news(round, row)
    if news is None:
        await _done(round, row)
        return
    if row.hooks is None:
        left = [hook for hook in round.hooks if hook.wants(row.status, news.session.repository)]
    else:
        left = [hook for name in row.hooks if (hook := named(round.hooks, name)) is not None]
    async with round.places:
        answers = await asyncio.gather(*(_post(round, hook, news) for hook in left))
    failed = [(hook, answer) for hook, answer in zip(left, answers, strict=True) if answer.error is not None]
    again = [(hook, answer) for hook, answer in failed if answer.again]
    for hook, answer in failed:
        log.warning("notification.failed", id=row.public_id, hook=hook.name, why=answer.error, tries=row.tries + 1)
    if not failed:
        await _done(round, row)
        return
    pauses = [pause(row.tries + 1, answer.retry_after) for _, answer in again]
    wait = max((each for each in pauses if each is not None), default=None)
    told = {
        "tries": row.tries + 1,
        "hooks": [hook.name for hook, _ in (again or failed)],
        "error": "; ".join(f"{hook.name}: {answer.error}" for hook, answer in failed),
        "due_at": None if wait is None else round.clock() + wait,
    }
    async with round.database.write() as tx:
        await tx.execute(update(Notification).where(Notification.id == row.id).values(**told))


async def _news(round: _Round, row: Notification) -> News | None:
    """None where the session is there no more."""
    try:
        async with round.database.read() as tx:
            session = await brief_of(tx, row.session)
    except Unknown:
        return None
    page = f"{round.public_url}/sessions/{row.session}"
    return News(row.public_id, row.status, row.at, session, page)


async def _post(round: _Round, hook: Hook, news: News) -> Answer:
    if hook.name in round.silent:
        return Answer(f"{hook.host} did not answer a moment ago")
    sent = message(hook, news, round.clock())
    url = hook.url.get_secret_value()
    try:
        async with round.http.stream("POST", url, content=sent.body, headers=sent.headers) as answer:
            pass  # what it says beyond its status is nobody's business, and may be endless
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        round.silent.add(hook.name)
        return Answer(f"{hook.host} cannot be reached: {type(error).__name__}")
    if answer.is_success:
        return Answer()
    said = f"{hook.host} answered {answer.status_code}"
    return Answer(said, again=answer.status_code != GONE, retry_after=answer.headers.get("retry-after"))


async def _done(round: _Round, row: Notification) -> None:
    async with round.database.write() as tx:
        await tx.execute(delete(Notification).where(Notification.id == row.id))


@dataclass(frozen=True)
class GivenUp:
    """Messages that nobody took until the end, and what the last of them came to."""

    count: int
    error: str


async def given_up(database: Database) -> GivenUp | None:
    """None where there are none."""
    lost = select(Notification).where(Notification.due_at.is_(None))
    async with database.read() as tx:
        count = (await tx.execute(select(func.count()).select_from(lost.subquery()))).scalar_one()
        last = (await tx.execute(lost.order_by(Notification.id.desc()).limit(1))).scalars().first()
    return GivenUp(count, last.error or "") if last else None
