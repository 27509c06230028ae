"""What we did outside the database: remembered, so that it is found again, and not done twice."""

import hashlib
from collections.abc import Awaitable, Callable

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from loops.context import Loop
from loops.store.tables import Effect

COMMIT = "commit"
"""The kind of a turn's commit, which no branch may have yet; its key is the turn's public id."""

BEGUN = ""
"""The id of what was perhaps never made."""


async def show(
    loop: Loop,
    session_id: int,
    kind: str,
    key: str,
    said: str,
    put: Callable[[int | None, bool], Awaitable[int | None]],
) -> None:
    """Have what people see at (`kind`, `key`) say `said`; nothing is sent when it says so already.

    `put` is given the id under which it stood last time, and whether an earlier call may have left it without our
    knowing where: that one was begun is recorded before, so only then it has to be looked for. It gives the id under
    which it stands now, or None when it could not be shown: then it is tried again the next time.
    """
    digest = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()
    async with loop.database.read() as tx:
        effect = await find(tx, session_id, kind, key)
    if effect is not None and effect.digest == digest:
        return
    if effect is None:
        async with loop.database.write() as tx:
            await keep(tx, session_id, kind, key, BEGUN, None, loop.clock())
    known = int(effect.external_id) if effect is not None and effect.external_id != BEGUN else None
    stands_at = await put(known, effect is not None and known is None)
    if stands_at is not None:
        async with loop.database.write() as tx:
            await keep(tx, session_id, kind, key, str(stands_at), digest, loop.clock())


async def once(loop: Loop, session_id: int, kind: str, key: str, make: Callable[[], Awaitable[str]]) -> str:
    """What `make` gave the first time. It runs again only where the process died before that was remembered."""
    async with loop.database.read() as tx:
        effect = await find(tx, session_id, kind, key)
    if effect is not None:
        return effect.external_id
    made = await make()
    async with loop.database.write() as tx:
        await keep(tx, session_id, kind, key, made, None, loop.clock())
    return made


async def find(tx: AsyncSession, session_id: int, kind: str, key: str) -> Effect | None:
    """What is remembered of one effect; its id is BEGUN where it may not have come to be."""
    where = (Effect.session_id == session_id, Effect.kind == kind, Effect.key == key)
    return (await tx.execute(select(Effect).where(*where))).scalar_one_or_none()


async def others(tx: AsyncSession, session_id: int, kind: str, key: str) -> list[Effect]:
    """The effects of a kind under other keys than this that have come to be."""
    where = (Effect.session_id == session_id, Effect.kind == kind, Effect.key != key, Effect.external_id != BEGUN)
    return list((await tx.execute(select(Effect).where(*where).order_by(Effect.id))).scalars())


async def keep(
    tx: AsyncSession, session_id: int, kind: str, key: str, external_id: str, digest: str | None, now: float
) -> None:
    """Remember an effect, or what has become of it."""
    insert = postgresql.insert if tx.get_bind().dialect.name == "postgresql" else sqlite.insert
    values = {"external_id": external_id, "digest": digest, "at": now}
    await tx.execute(
        insert(Effect)
        .values(session_id=session_id, kind=kind, key=key, **values)
        .on_conflict_do_update(index_elements=["session_id", "kind", "key"], set_=values)
    )
