"""Many small calls of the database as one: what comes while one is under way goes with the next."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from sqlalchemy.exc import InterfaceError, OperationalError

Item = TypeVar("Item")
Result = TypeVar("Result")
OUTAGES = (InterfaceError, OperationalError, OSError)


class Batcher(Generic[Item, Result]):
    """Hands what waits to `work`, up to `largest` items at once, in up to `at_once` calls at the same time.

    `work` returns a result for each item, and has done all of them or none where it raises. `one_by_one`: where it
    raises and the database is there, each item is tried by itself, so that one that is at fault fails alone.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]],
        *,
        largest: int,
        at_once: int = 1,
        one_by_one: bool = False,
    ) -> None:
        self._work = work
        self._largest = largest
        self._at_once = at_once
        self._one_by_one = one_by_one
        self._first: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._rest: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._busy = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def depth(self) -> int:
        """How many items wait for their call."""
        return len(self._first) + len(self._rest)

    async def put(self, item: Item, *, first: bool = False) -> Result:
        """The item's result; `first`: before those that are not. Raises what `work` raises.

        Who is cancelled here does not know whether it was done.
        """
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        (self._first if first else self._rest).append((item, done))
        if self._busy < self._at_once:
            self._busy += 1
            task = asyncio.create_task(self._run(), name="batches")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await done

    async def close(self) -> None:
        """Wait until everything is done."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self) -> None:
        try:
            while group := self._next():
                await self._call(group)
        finally:
            self._busy -= 1

    def _next(self) -> list[tuple[Item, "asyncio.Future[Result]"]]:
        group: list[tuple[Item, asyncio.Future[Result]]] = []
        for waiting in (self._first, self._rest):
            group += [waiting.popleft() for _ in range(min(self._largest - len(group), len(waiting)))]
        return group

    async def _call(self, group: Sequence[tuple[Item, "asyncio.Future[Result]"]]) -> None:
        try:
            results = await self._work([item for item, _ in group])
        except asyncio.CancelledError:
            for _, done in group:
                done.cancel()
            raise
        except Exception as error:
            if self._one_by_one and len(group) > 1 and not isinstance(error, OUTAGES):
                for each in group:
                    await self._call([each])
                return
            for _, done in group:
                if not done.done():
                    done.set_exception(error)
            return
        for (_, done), result in zip(group, results, strict=True):
            if not done.done():
                done.set_result(result)
