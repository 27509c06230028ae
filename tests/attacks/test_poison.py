"""What takes a process down twice is put aside with its reason, answered in words, and shown to the operator."""

import asyncio
import contextlib
import os
import pickle
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.commands.doctor.service_checks import check_quarantine
from app.process.worker import run as run_worker
from app.web.metrics import Figures
from loops.checks import distiller as distilling
from loops.checks.distiller import AboutLog, Distiller
from loops.deliveries import poison
from loops.offload import Offload, Withheld
from loops.store.tables import Delivery
from tests.attacks.dying_worker import POISON
from tests.e2e.house import House, house


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    """Without a worker: each test starts its own."""
    async with house(tmp_path, run=None, lease_seconds=2) as opened:
        opened.stop.set()
        await asyncio.sleep(1)
        yield opened


async def dies(home: House, what: str, which: str) -> int:
    file = home.folder / "settings"
    file.write_bytes(pickle.dumps(home.settings))
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.attacks.dying_worker", str(file), what, which
    )
    return await asyncio.wait_for(worker.wait(), 120)


@contextlib.asynccontextmanager
async def working(home: House) -> AsyncIterator[None]:
    """A worker while the block runs."""
    stop = asyncio.Event()
    work = asyncio.create_task(run_worker(home.settings, str(home.settings.redis_url), stop=stop))
    try:
        yield
    finally:
        stop.set()
        await work


async def decided(home: House, word: str) -> Delivery:
    async def look() -> Delivery | None:
        found = await home.handled("issue_comment", 0)
        return next((each for each in found if word.encode() in (each.body or b"")), None)

    return await home.until(look)


async def test_a_comment_of_which_workers_die_is_put_aside_and_answered_and_those_beside_it_are_not(
    home: House,
) -> None:
    poisoned, innocent = await home.issue(), await home.issue()
    await home.comment(innocent, "@greenloop help")
    await home.comment(poisoned, f"@greenloop {POISON}")
    assert [await dies(home, "delivery", "first"), await dies(home, "delivery", "again")] == [9, 9]
    async with working(home):
        delivery = await decided(home, POISON)
        assert (delivery.decision, delivery.reason) == ("quarantined", "the process ended 2 times over it")
        assert "put aside" in (await home.bot_comments(poisoned))[0]
        assert (await decided(home, "greenloop help")).decision != "quarantined"
    (finding,) = await check_quarantine(home.settings)
    assert finding.level == "warn" and delivery.guid in finding.says
    assert b'greenloop_quarantined{kind="delivery"} 1.0' in await Figures().text(home.database, 0.0)


async def test_a_session_of_which_workers_die_is_put_aside_in_words_and_the_one_beside_it_is_not(home: House) -> None:
    poisoned, innocent = await home.issue(), await home.issue()
    await home.comment(innocent, "@greenloop fix it")
    await home.comment(poisoned, f"@greenloop {POISON}")
    assert [await dies(home, "step", which) for which in ("first", "again", "again")] == [9, 9, 9]
    async with working(home):
        await home.ended(sessions=2)
    found = {each.subject_number: each for each in await home.sessions()}
    aside, well = found[poisoned], found[innocent]
    assert (aside.status, aside.reason, well.status) == ("failed", "put_aside", "completed")
    assert "put aside" in (await home.bot_comments(poisoned))[0]
    (finding,) = await check_quarantine(home.settings)
    assert f"session {aside.public_id}" in finding.says and well.public_id not in finding.says


def _dead(*_: Any) -> None:
    os._exit(1)


async def test_a_delivery_that_no_process_can_read_is_put_aside(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poison, "LARGE", 1)
    monkeypatch.setattr(poison, "read_apart", _dead)
    await home.comment(await home.issue(), "@greenloop help")
    async with working(home):
        delivery = await decided(home, "greenloop help")
    assert (delivery.decision, delivery.reason) == ("quarantined", "looking through it took a process down")


async def test_a_log_that_fails_the_distiller_twice_is_put_aside_and_not_tried_again(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = home.folder / "tried"
    monkeypatch.setattr(distilling, "distilled", _noting)
    reads = Distiller(Offload(processes=1), home.database, lambda: 1.0, 7)
    for _ in range(2):
        with pytest.raises(Withheld, match="took a process down"):
            await reads.log(5, tried, AboutLog(1_000, str))
    assert tried.read_text() == "xx"
    (finding,) = await check_quarantine(home.settings)
    assert "log 5" in finding.says


def _noting(path: Path, _: AboutLog) -> None:
    with path.open("a") as file:
        file.write("x")
    os._exit(1)
