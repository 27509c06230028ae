"""What a turn's requests have used, in its row: the truth for tokens and cost, whatever its CLI tells."""

from sqlalchemy import case, update

from loops.gateway.usage import Used
from loops.runtimes.spec import Price
from loops.sessions.spending import apply_caps
from loops.store.database import Database
from loops.store.tables import Turn


async def spare(database: Database, turn_id: int, until: float) -> None:
    """Keep the time until which the provider of the turn's model wants to be left alone: CLIs do not pass it on."""
    async with database.write() as tx:
        await tx.execute(update(Turn).where(Turn.id == turn_id).values(refused_until=until))


async def book(database: Database, turn_id: int, used: Used, price: Price | None) -> str | None:
    """Add what one request has used; why the turn has to end, where that passed one of its caps.

    Not repeatable: a process that dies between an answer and this books it never, none books it twice.
    """
    cost = used.cost(price)
    # until the first request, what the CLI told stood there
    first = Turn.booked == 0
    async with database.write() as tx:
        await tx.execute(
            update(Turn)
            .where(Turn.id == turn_id)
            .values(
                booked=Turn.booked + 1,
                input_tokens=case((first, used.input), else_=Turn.input_tokens + used.input),
                cached_tokens=case((first, used.cached), else_=Turn.cached_tokens + used.cached),
                output_tokens=case((first, used.output), else_=Turn.output_tokens + used.output),
                reasoning_tokens=case((first, used.reasoning), else_=Turn.reasoning_tokens + used.reasoning),
                booked_cost=Turn.booked_cost + cost,
                cost=case((Turn.booked_cost + cost > 0, Turn.booked_cost + cost), else_=Turn.told_cost),
            )
        )
        return await apply_caps(tx, turn_id)
