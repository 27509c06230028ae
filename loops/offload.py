"""Heavy passes over text that others wrote, in processes of their own: neither event loop nor GIL waits for them.

What passes its deadline, or takes its process down, ends with `Withheld`: nothing that was not looked through is shown.
"""

import asyncio
import weakref
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple, Unpack

import anyio
import structlog
from anyio import to_process

log = structlog.get_logger(__name__)

PROCESSES = 2
"""Passes at a time; each process takes some 80 MB."""
SECONDS = 20.0
"""For one pass, whatever its size: sizes are bounded before, and the time is linear in them."""
HEAVY = 32 * 1024
"""Bytes from which a pass would hold up the other requests of a process (a millisecond or more)."""

_Args = TypeVarTuple("_Args")
_Result = TypeVar("_Result")


class Withheld(Exception):
    """The pass did not end as it should: what it was about may not be shown."""


class Offload:
    """Runs passes of one process. One at a time for each installation, so that none keeps all of the processes, however
    many boxes it has."""

    def __init__(self, *, processes: int = PROCESSES, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._free = asyncio.Semaphore(processes)
        self._limiter = anyio.CapacityLimiter(processes)
        self._turns: weakref.WeakValueDictionary[int | None, asyncio.Lock] = weakref.WeakValueDictionary()

    async def run(
        self,
        installation: int | None,
        work: Callable[[Unpack[_Args]], _Result],
        *args: *_Args,
        seconds: float | None = None,
    ) -> _Result:
        """`work(*args)` in another process: a function of a module, with values that can be pickled, for that
        installation. `seconds` is a deadline other than the usual one.

        Raises Withheld when it takes longer than allowed, fails, or takes its process down: what was given to it is put
        aside then, since it would do so again.
        """
        most = self._seconds if seconds is None else seconds
        turn = self._turns.setdefault(installation, asyncio.Lock())
        async with turn, self._free:
            try:
                with anyio.fail_after(most):
                    return await to_process.run_sync(work, *args, cancellable=True, limiter=self._limiter)
            except TimeoutError:
                log.warning("offload.too_slow", installation=installation, work=work.__name__, seconds=most)
                raise Withheld(f"it could not be looked through within {most:.0f} s") from None
            except anyio.BrokenWorkerProcess as error:
                log.error("offload.died", installation=installation, work=work.__name__, error=str(error))
                raise Withheld("looking through it took a process down") from error
            except Exception as error:
                log.exception("offload.failed", installation=installation, work=work.__name__)
                raise Withheld(f"looking through it failed with {type(error).__name__}") from error
