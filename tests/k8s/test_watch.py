import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from k8s.cluster import ClusterError, ClusterUnreachable
from k8s.watch import Watch

Object = dict[str, Any]
Answer = list[tuple[str, Object]] | Exception


def item(name: str, version: int) -> Object:
    return {"metadata": {"name": name, "resourceVersion": str(version)}}


class Script:
    """Answers lists and watches one after the other; when the script ends, watches stay open and silent."""

    def __init__(self, lists: list[tuple[list[Object], str] | Exception], watches: list[Answer]) -> None:
        self.lists, self.watches = lists, watches
        self.asked: list[str] = []

    async def list(self, kind: str, labels: str) -> tuple[list[Object], str]:
        self.asked.append("list")
        await asyncio.sleep(0.002)
        answer = self.lists.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def watch(self, kind: str, labels: str, version: str, seconds: float) -> AsyncIterator[tuple[str, Object]]:
        self.asked.append(f"watch {version}")
        if not self.watches:
            await asyncio.Event().wait()
        answer = self.watches.pop(0)
        if isinstance(answer, Exception):
            raise answer
        for event in answer:
            yield event


@contextlib.asynccontextmanager
async def watching(script: Script, **options: Any) -> AsyncIterator[Watch]:
    watch = Watch(script, "Pod", "a=b", backoff=(0.001, 0.01), **options)
    task = asyncio.create_task(watch.run())
    try:
        yield watch
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def settle(script: Script, last: str) -> None:
    async with asyncio.timeout(60):
        while not script.asked or script.asked[-1] != last:
            await asyncio.sleep(0.001)


async def test_lists_once_and_goes_on_from_the_last_bookmark() -> None:
    script = Script([([item("a", 5)], "7")], [[("ADDED", item("b", 8)), ("BOOKMARK", item("", 20))]])
    async with watching(script) as watch:
        await settle(script, "watch 20")
        assert sorted(watch.objects) == ["a", "b"]
    assert script.asked == ["list", "watch 7", "watch 20"]


async def test_deleted_objects_are_forgotten() -> None:
    script = Script([([item("a", 5)], "7")], [[("DELETED", item("a", 8))]])
    async with watching(script) as watch:
        await settle(script, "watch 8")
        assert watch.objects == {}


async def test_an_expired_version_is_answered_with_a_fresh_list_at_once() -> None:
    gone = ClusterError(410, "Expired", "too old resource version")
    script = Script([([item("a", 5)], "7"), ([item("b", 90)], "99")], [gone])
    async with watching(script) as watch:
        await settle(script, "watch 99")
        assert list(watch.objects) == ["b"]
        assert watch.synced


async def test_an_outage_keeps_what_was_known_but_not_as_current() -> None:
    down = ClusterUnreachable("down")
    script = Script([([item("a", 5)], "7"), *[down] * 500], [down])
    async with watching(script) as watch:
        async with asyncio.timeout(60):
            while script.asked.count("list") < 3:
                await asyncio.sleep(0.001)
        assert not watch.synced
        assert list(watch.objects) == ["a"]


@pytest.mark.parametrize("error", [ClusterUnreachable("down"), TypeError("an answer of a new kind")])
async def test_it_never_gives_up(error: Exception) -> None:
    script = Script([*[error] * 30, ([item("a", 5)], "7")], [])
    async with watching(script) as watch:
        async with asyncio.timeout(60):
            while not watch.synced:
                await asyncio.sleep(0.001)
    assert script.asked.count("list") == 31


async def test_a_server_that_always_answers_410_is_not_asked_in_a_tight_loop() -> None:
    gone = ClusterError(410, "Expired", "too old")
    script = Script([([], "7")] * 1000, [gone] * 1000)
    task = Watch(script, "Pod", "a=b", backoff=(0.02, 0.02)).run()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(task, 0.3)
    assert script.asked.count("list") < 40


async def test_now_and_then_everything_is_listed_again() -> None:
    script = Script([([item("a", 5)], "7"), ([], "50")], [[("BOOKMARK", item("", 20))]])
    async with watching(script, relist_seconds=0) as watch:
        await settle(script, "watch 50")
        assert watch.objects == {}


async def test_a_follower_who_comes_late_sees_first_what_is_there() -> None:
    script = Script([([item("a", 5)], "7")], [])
    async with watching(script) as watch:
        await settle(script, "watch 7")
        assert await anext(watch.changes()) == ("a", item("a", 5))


async def test_followers_see_changes_and_what_a_relist_found_missing() -> None:
    gone = ClusterError(410, "Expired", "too old")
    script = Script([([item("a", 5)], "7"), ([], "99")], [gone])
    seen: list[tuple[str, bool]] = []

    async def follow(watch: Watch) -> None:
        async for name, found in watch.changes():
            seen.append((name, found is not None))

    async with watching(script) as watch:
        follower = asyncio.create_task(follow(watch))
        await settle(script, "watch 99")
        async with asyncio.timeout(60):
            while len(seen) < 2:
                await asyncio.sleep(0.001)
        follower.cancel()
        with pytest.raises(asyncio.CancelledError):
            await follower
    assert seen == [("a", True), ("a", False)]
