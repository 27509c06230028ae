"""When a turn that its provider refused is tried again."""

from typing import Any

import pytest
from sqlalchemy import delete

from loops.accounts.limited import limit
from loops.runtimes.failures import FailureKind
from loops.store.database import Database
from loops.store.tables import Profile, Turn
from loops.turns.try_again import LONGEST_PAUSE, LONGEST_WAIT, TRIES, Again, clock, next_try, pause, wanted

NOON = 1_800_014_400.0


@pytest.mark.parametrize(
    ("name", "tries", "after", "expected"),
    [
        ("the first pause is the setting's", 0, None, 60),
        ("each doubles the one before", 3, None, 480),
        ("up to half an hour", 5, None, LONGEST_PAUSE),
        ("the provider's own time wins, longer", 0, 3600.0, 3600),
        ("and shorter", 4, 5.0, 5),
        ("but nobody is asked again at once", 0, 0.0, 1),
        ("nor for ever", TRIES, None, None),
        ("nor after a day", 0, LONGEST_WAIT + 1, None),
    ],
)
def test_the_pause_before_the_next_try(name: str, tries: int, after: float | None, expected: float | None) -> None:
    assert pause(tries, after, 60, 0) == expected, name


def test_turns_do_not_come_back_all_at_once_and_never_too_early() -> None:
    pauses = [pause(0, 100.0, 60, jitter / 10) for jitter in range(11)]
    assert pauses == sorted(set(pauses), key=lambda each: each or 0) and (pauses[0], pauses[-1]) == (100, 120)


def test_what_the_gateway_was_told_of_a_wait_goes_before_what_the_agent_says_until_it_is_over() -> None:
    assert wanted(NOON + 120, 7.0, NOON) == 120
    assert wanted(NOON - 1, 7.0, NOON) == wanted(None, 7.0, NOON) == 7
    assert wanted(None, None, NOON) is None


def test_people_are_told_the_day_where_it_is_not_soon() -> None:
    assert clock(NOON + 60, NOON).endswith(" UTC") and clock(NOON + 60, NOON).count("-") == 0
    assert clock(NOON + 86_400, NOON).count("-") == 2


DAY = 86_400.0


async def after(
    sqlite_url: str,
    kind: FailureKind,
    told: float | None,
    *,
    retries: int = 0,
    fallback: bool = False,
    spent: bool = False,
) -> tuple[Again | None, Profile]:
    """What becomes of a turn and of its account; with `fallback` another stands in for that (`spent`: also limited)."""
    known: dict[str, Any] = {
        "provider": "p",
        "credential_kind": "api_key",
        "secret": b"",
        "created_at": 0,
        "updated_at": 0,
    }
    main = Profile(installation_id=1, name="main", is_default=True, fallback="spare" if fallback else None, **known)
    spare = Profile(installation_id=1, name="spare", is_default=False, **known)
    if spent:
        limit(spare, FailureKind.RATE_LIMIT, NOON + 60)
    database = Database(sqlite_url)
    try:
        async with database.write() as tx:
            tx.add_all([main, spare])
            await tx.flush()
            return await next_try(tx, Turn(retries=retries, afresh=False), kind, main, told, NOON, 60), main
    finally:
        await database.close()


async def test_an_account_that_is_limited_for_longer_than_anybody_waits_is_left_alone_all_the_same(
    sqlite_url: str,
) -> None:
    again, account = await after(sqlite_url, FailureKind.RATE_LIMIT, DAY)
    assert again is None and account.limited_until == NOON + DAY
    await _clear(sqlite_url)
    again, account = await after(sqlite_url, FailureKind.RATE_LIMIT, None, retries=TRIES)
    assert again is None and (account.limited_until or 0) > NOON


async def test_who_stands_in_for_a_limited_account_takes_the_turn_at_once_however_long_the_limit_is(
    sqlite_url: str,
) -> None:
    for told in (DAY, 30.0, None):
        again, account = await after(sqlite_url, FailureKind.RATE_LIMIT, told, fallback=True)
        assert again is not None and again.at == NOON and (account.limited_until or 0) > NOON
        await _clear(sqlite_url)


async def test_a_turn_is_not_handed_round_between_limited_accounts_for_ever(sqlite_url: str) -> None:
    again, _ = await after(sqlite_url, FailureKind.RATE_LIMIT, 1.0, fallback=True, spent=True)
    assert again is not None and again.at > NOON
    await _clear(sqlite_url)
    again, _ = await after(sqlite_url, FailureKind.RATE_LIMIT, 1.0, fallback=True, retries=TRIES)
    assert again is None


async def _clear(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    async with database.write() as tx:
        await tx.execute(delete(Profile))
    await database.close()
