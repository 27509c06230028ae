"""Many small writes as one: order, sizes, and whose fault a failure is."""

import asyncio
from collections.abc import Sequence

import pytest

from loops.store.batcher import Batcher


class Disk:
    """Takes groups when it is let; refuses "bad" and, where it is `away`, everything."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.under_way = 0
        self.most = 0
        self.away = False
        self.free = asyncio.Event()

    async def store(self, group: Sequence[str]) -> list[str]:
        self.groups.append(list(group))
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await self.free.wait()
            if self.away:
                raise ConnectionError("away")
            if "bad" in group:
                raise ValueError("bad")
        finally:
            self.under_way -= 1
        return [each.upper() for each in group]


async def put(commits: Batcher[str, str], disk: Disk, *items: str, first: str = "") -> list[str | BaseException]:
    """All at once, while the disk is still busy with the first of them."""
    tasks = [asyncio.create_task(commits.put(item, first=item.startswith(first) if first else False)) for item in items]
    for _ in range(3):
        await asyncio.sleep(0)
    disk.free.set()
    return list(await asyncio.gather(*tasks, return_exceptions=True))


async def test_what_comes_during_a_commit_goes_with_the_next_and_each_has_its_own_result() -> None:
    disk = Disk()
    commits: Batcher[str, str] = Batcher(disk.store, largest=3)
    assert await put(commits, disk, "a", "b", "c", "d", "e") == ["A", "B", "C", "D", "E"]
    assert (disk.most, max(map(len, disk.groups)), sum(map(len, disk.groups))) == (1, 3, 5)
    assert commits.depth == 0


async def test_who_comes_first_is_stored_before_those_who_waited_longer() -> None:
    disk = Disk()
    commits: Batcher[str, str] = Batcher(disk.store, largest=1)
    await put(commits, disk, "a", "b", "hurry", first="hurry")
    assert disk.groups[1:] == [["hurry"], ["b"]] or disk.groups == [["hurry"], ["a"], ["b"]]


async def test_several_groups_are_on_their_way_where_that_is_wanted() -> None:
    disk = Disk()
    await put(Batcher(disk.store, largest=1, at_once=3), disk, *"abcdef")
    assert disk.most == 3


async def test_one_that_cannot_be_stored_fails_alone() -> None:
    disk = Disk()
    found = await put(Batcher(disk.store, largest=9, one_by_one=True), disk, "a", "bad", "c")
    assert [str(each) for each in found] == ["A", "bad", "C"]


@pytest.mark.parametrize("one_by_one", [True, False])
async def test_while_the_database_is_away_nobody_is_tried_one_by_one(one_by_one: bool) -> None:
    disk = Disk()
    disk.away = True
    found = await put(Batcher(disk.store, largest=9, one_by_one=one_by_one), disk, "a", "b", "c")
    assert [type(each) for each in found] == [ConnectionError] * 3
    assert len(disk.groups) <= 2


async def test_after_a_failure_and_after_a_cancelled_wait_the_next_is_stored() -> None:
    disk = Disk()
    commits: Batcher[str, str] = Batcher(disk.store, largest=9)
    gone = asyncio.create_task(commits.put("a"))
    await asyncio.sleep(0)
    gone.cancel()
    assert [str(each) for each in await put(commits, disk, "bad")] == ["bad"]
    assert await commits.put("c") == "C"
    await commits.close()
