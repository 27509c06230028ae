import asyncio

from sqlalchemy import select

from loops.store.database import Database
from loops.store.service_state import by_one_process
from loops.store.service_tables import ServiceState


async def test_work_that_lasts_longer_than_it_is_held_stays_with_the_process_that_does_it(database: Database) -> None:
    now = 1000.0
    async with by_one_process(database, "x", seconds=0.3, clock=lambda: now) as mine:
        assert mine
        now += 600.0
        async with asyncio.timeout(60):
            while await held_until(database) < now:
                await asyncio.sleep(0.05)
        async with by_one_process(database, "x", clock=lambda: now) as other:
            assert not other
    async with by_one_process(database, "x", clock=lambda: now) as other:
        assert other


async def held_until(database: Database) -> float:
    async with database.read() as tx:
        return (await tx.execute(select(ServiceState.lease_until))).scalar_one() or 0.0


async def test_who_died_holds_the_others_up_for_half_a_minute(database: Database) -> None:
    now = 1000.0
    async with by_one_process(database, "x", clock=lambda: now):
        async with by_one_process(database, "x", clock=lambda: now + 29) as other:
            assert not other
        async with by_one_process(database, "x", clock=lambda: now + 31) as other:
            assert other
