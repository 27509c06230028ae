"""What a person waits for: from a mention to the first words of the agent, and from its end to the pull request.

Everything is warm: the box is up, and the repository was worked on before. Once with the local GitHub as it is, once
with each answer `SLOW` seconds late, as over the internet. Beside each stage stand its budget and the requests
that were made in it one after the other; what is left of a stage without them is our own.
"""

import asyncio
import contextlib
import itertools
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select

from app.logging import configure
from loops.store.tables import Delivery, Event, Turn
from tests.e2e.house import House, house

SLOW = 0.12
ROUNDS = 5
AGENT = """
print("begun", flush=True)
time.sleep(0.3)
pathlib.Path('value.txt').write_text('right')
print(f"ended {time.time()}", flush=True)
"""
STAGES: Sequence[tuple[str, float, float]] = (
    ("received", 0.01, 0.02),
    ("decided", 0.04, 0.3),
    ("prepared", 0.12, 0.6),
    ("handed out", 0.02, 0.02),
    ("agent started", 0.07, 0.3),
    ("first words", 0.04, 0.04),
    ("agent ended", 0.0, 0.0),
    ("pushed", 0.2, 0.8),
    ("pull request", 0.1, 0.3),
)
"""Each with its budget in seconds, near GitHub and `SLOW` away; what the agent takes has none."""
SUMS = (("mention -> first words", 0, 6, 0.3, 0.6), ("end -> pull request", 7, 9, 0.3, 0.8))
"""Stages from and to, and the aims: wall clock near GitHub, and our own `SLOW` away."""


@dataclass
class Asked:
    """When each request of ours to GitHub began and ended."""

    spans: list[tuple[float, float]] = field(default_factory=list)

    def within(self, begin: float, end: float) -> float:
        """Seconds of that time in which at least one was under way."""
        covered, reached = 0.0, begin
        for start, stop in sorted(self.spans):
            start, stop = max(start, reached), min(stop, end)
            if stop > start:
                covered += stop - start
                reached = stop
        return covered


@contextlib.contextmanager
def slowed(seconds: float, asked: Asked) -> Iterator[None]:
    """GitHub's answers to the service are `seconds` late."""
    real = httpx.AsyncHTTPTransport.handle_async_request

    async def late(transport: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        if not request.headers.get("user-agent", "").startswith(("greenloop/", "git/")):
            return await real(transport, request)  # a person's, or a webhook
        began = time.time()
        await asyncio.sleep(seconds)
        answer = await real(transport, request)
        asked.spans.append((began, time.time()))
        return answer

    httpx.AsyncHTTPTransport.handle_async_request = late  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        httpx.AsyncHTTPTransport.handle_async_request = real  # type: ignore[method-assign]


async def measured(home: House) -> list[float]:
    """One mention: when it was written, and when each stage was over."""
    seen: dict[str, float] = {}

    def observe(event: str, action: str | None, payload: dict[str, Any]) -> None:
        if payload.get("sender", {}).get("type") == "Bot" and (event, action) in HOOKS:
            seen.setdefault(HOOKS[event, action], time.time())

    before = len(await home.sessions())
    number = await home.issue()
    await home.handled("issues", before + 1)
    home.local.observe(hooks=observe)
    began = time.time()
    await home.comment(number, "@greenloop fix it")
    await home.ended(sessions=before + 1)
    home.local.hub.hooks.observers.remove(observe)
    async with home.database.read() as tx:
        turn = (await tx.execute(select(Turn).order_by(Turn.id.desc()).limit(1))).scalar_one()
        delivery = await tx.get_one(Delivery, turn.delivery)
        events = (await tx.execute(select(Event).where(Event.turn_id == turn.id).order_by(Event.seq))).scalars().all()
    said = "".join(str(event.payload.get("text", "")) for event in events)
    first = next(event.at for event in events if "begun" in str(event.payload.get("text", "")))
    ended = float(said.partition("ended ")[2].split()[0])
    known = [delivery.received_at, delivery.handled_at, turn.started_at, turn.handed_at, turn.begun_at, first, ended]
    return [began, *map(float, filter(None, known)), seen["pushed"], seen["pull request"]]


HOOKS = {("push", None): "pushed", ("pull_request", "opened"): "pull request"}


async def rounds(seconds: float) -> tuple[list[float], list[float]]:
    """The median of each stage in seconds, and of its part that was spent on requests."""
    asked = Asked()
    with tempfile.TemporaryDirectory() as folder, slowed(seconds, asked):
        async with house(Path(folder), run=None) as home:
            configure("error", json=True)
            home.agent(AGENT)
            await measured(home)  # which warms everything
            found = [await measured(home) for _ in range(ROUNDS)]
    lasted = [[end - begin for begin, end in itertools.pairwise(each)] for each in found]
    waited = [[asked.within(*span) for span in itertools.pairwise(each)] for each in found]
    return [statistics.median(each) for each in zip(*lasted, strict=True)], [
        statistics.median(each) for each in zip(*waited, strict=True)
    ]


def main() -> int:
    """Print each stage against its budget; 1 where a sum misses its aim."""
    missed = False
    for place, seconds in enumerate((0.0, SLOW)):
        lasted, waited = asyncio.run(rounds(seconds))
        print(f"latency: GitHub answers {1e3 * seconds:.0f} ms late")
        for (name, *budgets), took, asking in zip(STAGES, lasted, waited, strict=True):
            told = f"of {1e3 * budgets[place]:4.0f} ms" if budgets[place] else ""
            print(f"  {name:24}{1e3 * took:6.0f} ms {told:12}{1e3 * asking:6.0f} ms of it requests")
        for name, first, last, *aims in SUMS:
            took, asking = sum(lasted[first:last]), sum(waited[first:last])
            counts = took - (asking if seconds else 0.0)
            missed = missed or counts > aims[place]
            print(
                f"  {name:24}{1e3 * took:6.0f} ms, without requests {1e3 * (took - asking):.0f} ms; "
                f"{1e3 * counts:.0f} of {1e3 * aims[place]:.0f} ms"
            )
    return int(missed)
