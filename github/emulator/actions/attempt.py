"""One attempt of a run: its place in its concurrency group, its jobs, and the end."""

import asyncio
from collections.abc import Callable

import structlog

from github.emulator.actions import concurrency, reusable
from github.emulator.actions.concurrency import Ticket
from github.emulator.actions.jobs import Frame, Jobs, Office, first, scope_of
from github.emulator.acts import runs as acts
from github.emulator.faults import Faults
from github.emulator.store.runs import Run
from github.workflows.expressions import BadExpression
from github.workflows.workflow import BadWorkflow, WorkflowSpec

log = structlog.get_logger(__name__)


class Attempt:
    """Runs the jobs `only` (None: all); jobs left out keep the result of the attempt before."""

    def __init__(self, office: Office, faults: Faults, run: Run, spec: WorkflowSpec, only: set[str] | None) -> None:
        self.run = run
        self._office, self._faults, self._spec, self._only = office, faults, spec, only
        self._cancelled = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self, ended: Callable[[], object]) -> None:
        """Begin on the running loop; `ended` is called at the end."""
        self._task = asyncio.get_running_loop().create_task(self._main())
        self._task.add_done_callback(lambda _: ended())

    def cancel(self) -> "asyncio.Future[None]":
        """Ask it to end. What comes back is done when it has ended."""
        self._cancelled.set()
        return self._task if self._task is not None else asyncio.get_running_loop().create_future()

    async def _main(self) -> None:
        run, store = self.run, self._office.forge.store
        group, ticket = None, Ticket(self._cancelled.set)
        try:
            callees = reusable.callees(store, run.repository, run.checkout_sha, self._spec)
            frame = Frame(run, self._spec, callees, inputs=run.inputs)
            if wanted := concurrency.asked(self._spec.concurrency, scope_of(store, frame)):
                group = (run.repository.id, wanted[0])
                await self._turn(group, ticket, wanted[1])
            jobs = Jobs(self._office, frame, self._cancelled, self._only)
            await jobs.all()
            self._end(self._faults.concluded(run.workflow.path, jobs.result()))
        except (BadWorkflow, BadExpression) as error:
            run.problem = str(error)
            self._end("startup_failure")
        except Exception:
            log.exception("ci.attempt_failed", run=run.id)
            self._end("failure")
        finally:
            if group is not None:
                self._office.groups.leave(group, ticket)

    async def _turn(self, group: tuple[int, str], ticket: Ticket, cancels: bool) -> None:
        """Wait for the turn in the group, or to be pushed out of its line."""
        self._office.groups.enter(group, ticket, cancels)
        if not ticket.turn.is_set():
            self.run.status = self.run.suite.status = "pending"
            await first(ticket.turn, self._cancelled)
            self.run.status = self.run.suite.status = "queued"

    def _end(self, conclusion: str) -> None:
        if not self.run.repository.deleted:  # else there is nobody left to tell
            acts.run_completed(self._office.forge, self.run, conclusion)
