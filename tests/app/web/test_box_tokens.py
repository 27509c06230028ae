"""A box that stays up while its token is renewed: no request fails, and the old token ends soon."""

import httpx
import pytest
from sqlalchemy import update

from app.web.state import AppState
from k8s.runner import protocol
from loops.protocol.tokens import FORMER_SECONDS, token_hash
from loops.store.tables import Box
from tests.app.boxside import TOKEN, ask, seed, send
from tests.databases import on_sqlite

NEW = "box-token-of-ann-renewed"

pytestmark = on_sqlite


@pytest.fixture(autouse=True)
def short_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "POLL_SECONDS", 0.3)


async def renew(shared: AppState, *, age: float = 10.0) -> None:
    async with shared.database.write() as tx:
        values = {"token_hash": token_hash(NEW), "former_hash": token_hash(TOKEN), "token_at": shared.clock() - age}
        await tx.execute(update(Box).where(Box.name == "ann").values(**values))


async def test_the_former_token_is_good_until_the_box_has_shown_the_new_one(
    box: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared)
    await renew(shared)
    assert (await box.post("/boxes/ann/next", json=ask())).status_code == 200
    assert (await send(box, 0, b"a\n")).status_code == 200
    box.headers["authorization"] = f"Bearer {NEW}"
    assert (await send(box, 2, b"b\n")).status_code == 200
    await box.post("/boxes/ann/next", json=ask())
    box.headers["authorization"] = f"Bearer {TOKEN}"
    assert (await send(box, 4, b"c\n")).status_code == 401


async def test_the_former_token_ends_even_if_the_box_never_shows_the_new_one(
    box: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared)
    await renew(shared, age=FORMER_SECONDS + 1)
    assert (await box.post("/boxes/ann/next", json=ask())).status_code == 401
    assert (await send(box, 0, b"a\n")).status_code == 401


@pytest.mark.parametrize("path", ["/boxes/bob/next", "/turns/t_1/output"])
async def test_a_former_token_opens_nothing_of_others(box: httpx.AsyncClient, shared: AppState, path: str) -> None:
    await seed(shared, status="running")
    async with shared.database.write() as tx:
        former = {"former_hash": token_hash("box-token-of-eve"), "token_at": shared.clock()}
        await tx.execute(update(Box).where(Box.name == "bob").values(**former))
    box.headers["authorization"] = "Bearer box-token-of-eve"
    answer = await box.post(path, json={"offset": 0, **ask()})
    assert answer.status_code == (404 if "turns" in path else 204)
