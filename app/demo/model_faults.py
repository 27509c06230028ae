"""What goes wrong at the scripted model of a demo: run after run of the agent is refused, each in one way."""

import asyncio
from collections.abc import Callable, Sequence
from enum import StrEnum

from sqlalchemy import func, select

from app.demo.world import Misuse
from loops.runtimes.scripted.brain import Brain
from loops.runtimes.scripted.conversation import Conversation
from loops.runtimes.scripted.replies import Refusal, Step
from loops.runtimes.scripted.server import TOO_LONG
from loops.store.database import Database
from loops.store.tables import Event

ANSWER_SECONDS = 30.0


class ModelFault(StrEnum):
    """How one run of the agent is refused."""

    OVERLOAD = "overload"
    RATE_LIMIT = "rate-limit"
    CONTEXT = "context"


REFUSALS = {
    ModelFault.OVERLOAD: Refusal(503, "The service is overloaded.", kind="overloaded_error"),
    ModelFault.RATE_LIMIT: Refusal(429, "Too many requests.", retry_after=3),
    ModelFault.CONTEXT: Refusal(400, "The maximum context length is 8192 tokens.", kind=TOO_LONG),
}


def model_faults(names: Sequence[str]) -> tuple[ModelFault, ...]:
    """The faults by their names. Raises Misuse."""
    try:
        return tuple(map(ModelFault, names))
    except ValueError:
        wrong = next(name for name in names if name not in list(ModelFault))
        raise Misuse(f"--model-fault {wrong}: must be one of {', '.join(ModelFault)}") from None


class Refusing:
    """Refuses all that the agent's first runs ask, the first by the first of `faults` and so on; then `brain` answers.

    `reported` says how many runs are over: however often an agent asks again by itself, it is the same run.
    """

    def __init__(self, brain: Brain, faults: Sequence[ModelFault], reported: Callable[[], int]) -> None:
        self._brain = brain
        self._faults = tuple(faults)
        self._reported = reported

    def next(self, conversation: Conversation) -> Step:
        """A refusal, or what `brain` says."""
        run = self._reported() if self._faults else 0
        return REFUSALS[self._faults[run]] if run < len(self._faults) else self._brain.next(conversation)


def reported_in(database: Database) -> Callable[[], int]:
    """How many runs were reported so far, for whoever is in another thread than this event loop's."""
    loop = asyncio.get_running_loop()

    async def count() -> int:
        async with database.read() as tx:
            runs = select(func.count()).select_from(Event).where(Event.kind == "turn_reported")
            return int((await tx.execute(runs)).scalar_one())

    return lambda: asyncio.run_coroutine_threadsafe(count(), loop).result(ANSWER_SECONDS)
