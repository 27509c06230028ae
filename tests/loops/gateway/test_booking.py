"""What the gateway counts is the truth of a turn; what its CLI tells stands beside it."""

from typing import Any

import structlog
from sqlalchemy import select

from k8s.runner.protocol import Output, Result
from loops.gateway.booking import book
from loops.gateway.usage import Used
from loops.offload import Offload
from loops.protocol.output_groups import Outputs
from loops.protocol.results import store_result
from loops.protocol.store_output import store_output
from loops.runtimes.spec import Price
from loops.secrets.redact import Redactor
from loops.store.database import Database
from loops.store.tables import Box, Session, Turn

PRICE = Price(input=10, cached=1, output=100)
TOLD = b'{"kind": "usage", "steps": 1, "input": 90, "cached": 0, "output": 5, "cost": 0.5}\n'


async def turn(database: Database, **more: Any) -> Turn:
    async with database.write() as tx:
        tx.add(Box(name="ann", installation_id=5, token_hash="", used_at=0, created_at=0))
        session = Session(
            public_id="s_1", installation_id=5, repository_id=7, subject_kind="issue", subject_number=1,
            surface="github", trigger="mention", title="T", instruction="fix it", cap=3, created_at=0,
        )  # fmt: skip
        tx.add(session)
        await tx.flush()
        made = Turn(
            public_id="t_1", session_id=session.id, number=1, kind="issue", trigger="mention", status="running",
            runtime="native", box="ann", marker="gl-1", spec={}, created_at=0, model_token="x", **more,
        )  # fmt: skip
        tx.add(made)
        await tx.flush()
        return made


async def now(database: Database) -> Turn:
    async with database.read() as tx:
        return (await tx.execute(select(Turn))).scalar_one()


async def tell(database: Database, line: bytes = TOLD) -> None:
    row = await now(database)
    sent = Output(offset=row.output_offset, data="", state="running")
    await store_output(Outputs(database), row, sent, line, Redactor(), Offload(), now=1.0)


def counted(row: Turn) -> tuple[int, int, int, float]:
    return row.input_tokens, row.cached_tokens, row.output_tokens, row.cost


async def test_the_gateways_numbers_stand_whatever_the_cli_tells_and_the_difference_is_logged(
    database: Database,
) -> None:
    await turn(database)
    await book(database, 1, Used(100, 40, 7), PRICE)
    await tell(database)
    await book(database, 1, Used(100, 0, 3), PRICE)
    row = await now(database)
    cost = (160 * 10 + 40 + 10 * 100) / 1e6
    assert counted(row) == (200, 40, 10, cost)
    assert (row.steps, row.told_input, row.told_output, row.told_cost) == (1, 90, 5, 0.5)
    with structlog.testing.capture_logs() as said:
        await store_result(database, row, Result("exited", 0), {}, Redactor(), Offload(), now=2.0)
    (told,) = [line for line in said if line["event"] == "usage.differs"]
    assert told["counted"] == (200, 40, 10) and told["told"] == (90, 0, 5)
    assert counted(await now(database)) == (200, 40, 10, cost)


async def test_what_the_cli_tells_counts_until_the_gateway_has_counted(database: Database) -> None:
    await turn(database)
    await tell(database)
    assert counted(await now(database)) == (90, 0, 5, 0.5)
    await book(database, 1, Used(100, 40, 7), PRICE)
    assert counted(await now(database))[:3] == (100, 40, 7)


async def test_tokens_of_reasoning_are_told_apart_by_the_cli_and_by_the_gateway(database: Database) -> None:
    await turn(database)
    await tell(database, TOLD.replace(b'"output": 5', b'"output": 5, "reasoning": 3'))
    row = await now(database)
    assert (row.output_tokens, row.reasoning_tokens, row.told_reasoning) == (5, 3, 3)
    for _ in range(2):
        await book(database, 1, Used(100, 40, 7, reasoning=4), PRICE)
    row = await now(database)
    assert (row.output_tokens, row.reasoning_tokens, row.told_reasoning) == (14, 8, 3)


async def test_the_cost_that_the_cli_tells_counts_where_nobody_knows_the_models_price(database: Database) -> None:
    await turn(database)
    await book(database, 1, Used(100, 40, 7), None)
    await tell(database)
    await book(database, 1, Used(1, 0, 1), None)
    assert counted(await now(database)) == (101, 40, 8, 0.5)


async def test_a_cap_that_is_passed_stops_the_turn_and_says_so(database: Database) -> None:
    await turn(database, limits={"cost": 0.001})
    assert await book(database, 1, Used(10, 0, 1), PRICE) is None
    assert (await book(database, 1, Used(1_000, 0, 1), PRICE) or "").startswith("limit_exceeded: 0.01 US dollars")


async def test_what_ended_after_its_turn_is_counted_too(database: Database) -> None:
    await turn(database)
    async with database.write() as tx:
        (await tx.execute(select(Turn))).scalar_one().status = "done"  # type: ignore[assignment]
    await book(database, 1, Used(100, 40, 7), PRICE)
    assert (await now(database)).input_tokens == 100
