"""A box that stays up while its token is renewed: no request fails, the old token ends soon, and every token ends."""

import httpx
import pytest
from sqlalchemy import update

from app.web.state import AppState
from k8s.runner import protocol
from loops.protocol.tokens import FORMER_SECONDS, lifetime
from loops.secrets.token_hash import token_hash
from loops.store.tables import Box
from tests.app.boxside import TOKEN, ask, seed
from tests.databases import on_sqlite

NEW = "box-token-of-ann-renewed"

pytestmark = on_sqlite


@pytest.fixture(autouse=True)
def short_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "POLL_SECONDS", 0.3)


async def change(shared: AppState, name: str = "ann", **values: object) -> None:
    async with shared.database.write() as tx:
        await tx.execute(update(Box).where(Box.name == name).values(**values))


async def renew(shared: AppState, *, age: float = 10.0) -> None:
    former = token_hash(TOKEN)
    await change(shared, token_hash=token_hash(NEW), former_hash=former, token_at=shared.clock() - age)


async def asked_with(box: httpx.AsyncClient, token: str, name: str = "ann") -> int:
    headers = {"authorization": f"Bearer {token}"}
    return (await box.post(f"/boxes/{name}/next", json=ask(), headers=headers)).status_code


async def test_the_former_token_is_good_until_the_box_has_shown_the_new_one(
    box: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared)
    await renew(shared)
    assert await asked_with(box, TOKEN) == 200
    assert await asked_with(box, NEW) == 200
    assert await asked_with(box, TOKEN) == 401


async def test_the_former_token_ends_even_if_the_box_never_shows_the_new_one(
    box: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared)
    await renew(shared, age=FORMER_SECONDS + 1)
    assert await asked_with(box, TOKEN) == 401
    assert await asked_with(box, NEW) == 200


async def test_a_former_token_opens_nothing_of_others(box: httpx.AsyncClient, shared: AppState) -> None:
    await seed(shared)
    await change(shared, "bob", former_hash=token_hash("box-token-of-eve"), token_at=shared.clock())
    assert await asked_with(box, "box-token-of-eve", "bob") == 204
    assert await asked_with(box, "box-token-of-eve", "ann") == 401


async def test_a_token_is_good_for_hours(box: httpx.AsyncClient, shared: AppState) -> None:
    await seed(shared)
    await change(shared, token_at=shared.clock() - lifetime(shared.settings) + 60)
    assert await asked_with(box, TOKEN) == 200
    await change(shared, token_at=shared.clock() - lifetime(shared.settings) - 1)
    assert await asked_with(box, TOKEN) == 401


async def test_a_token_is_refused_once_its_box_is_gone(box: httpx.AsyncClient, shared: AppState) -> None:
    await seed(shared)
    await change(shared, stopped_at=shared.clock())
    assert await asked_with(box, TOKEN) == 401
