"""The CI engine: reads workflows, makes runs, and sees them through."""

import asyncio
from dataclasses import replace
from typing import Any

import structlog

from github.emulator.actions import planning
from github.emulator.actions.attempt import Attempt
from github.emulator.actions.jobs import Office
from github.emulator.actions.planning import Found
from github.emulator.actions.shelf import LogShelf
from github.emulator.actions.starter import EVENTS, StartedRun, Starter
from github.emulator.acts import runs as acts
from github.emulator.faults import Faults
from github.emulator.forge import Event, Forge
from github.emulator.options import EmulatorOptions
from github.emulator.store.checks import CheckRun
from github.emulator.store.repositories import Repository
from github.emulator.store.runs import Job, Run, Workflow
from github.emulator.store.users import User
from github.emulator.tokens import Mint

log = structlog.get_logger(__name__)
_GOOD = ("success", "neutral", "skipped")


class Engine:
    """Reacts to pushes and pull requests. Everything happens on the server's loop; what comes before it waits."""

    def __init__(self, forge: Forge, faults: Faults, mint: Mint, options: EmulatorOptions) -> None:
        self._forge, self._store, self._faults = forge, forge.store, faults
        self.logs = LogShelf(forge.store)
        self._starter = Starter(forge)
        self._office = Office(forge, mint, options.job_seconds, asyncio.Semaphore(options.parallel_jobs))
        self._attempts: dict[int, Attempt] = {}
        self._waiting: list[Attempt] = []
        self._delayed: set[asyncio.TimerHandle] = set()
        self._started = False

    async def start(self) -> None:
        self._started = True
        for attempt in self._waiting:
            self._begin(attempt)
        self._waiting.clear()

    async def stop(self) -> None:
        """End every job; nothing of them is left running."""
        self._started = False
        for delayed in self._delayed:
            delayed.cancel()
        self._delayed.clear()
        tasks = [attempt.cancel() for attempt in list(self._attempts.values())]
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def busy(self) -> bool:
        return bool(self._attempts or self._delayed)

    # events

    def follow(self, event: Event) -> None:
        """Something happened in a repository: start the workflows that it starts, or later if a fault says so."""
        if event.name == "repository" and event.action == "deleted":
            for run in self._store.runs:
                if run.repository is event.repository:
                    self.cancel(run)
        if event.name not in EVENTS:
            return
        faults = self._faults.for_ci(event.name, event.action) if self._starter.is_wanted(event) else []
        if any(fault.kind == "ci_lost" for fault in faults):
            return
        delay = sum(fault.seconds for fault in faults if fault.kind == "ci_delay")
        asks = any(fault.kind == "ci_approval" for fault in faults)
        if not delay or not self._started:
            self._react(event, asks)
            return

        def late() -> None:
            try:
                self._react(event, asks)
            finally:  # busy until the runs are: others look from another thread
                self._delayed.discard(handle)

        handle = asyncio.get_running_loop().call_later(delay, late)
        self._delayed.add(handle)

    def _react(self, event: Event, asks: bool) -> None:
        """Start what the event starts; if it `asks`, whatever that is waits for an approval."""
        if not event.repository.deleted:
            for start in self._starter.of_event(event):
                self._go(replace(start, wait=start.wait or asks))

    # runs

    def _go(self, start: StartedRun) -> None:
        run, one = start.run, start.found
        acts.tell_run(self._forge, run, "requested")
        if one.spec is None:
            log.info("ci.bad_workflow", path=one.path, problem=one.problem)
            run.problem = one.problem
            acts.run_completed(self._forge, run, "startup_failure")
        elif start.wait:
            acts.run_completed(self._forge, run, "action_required")
        else:
            self._launch(run, one)

    def _launch(self, run: Run, one: Found, only: set[str] | None = None) -> None:
        if one.spec is None:
            return
        attempt = Attempt(self._office, self._faults, run, one.spec, only)
        if self._started:
            self._begin(attempt)
        else:
            self._waiting.append(attempt)

    def _begin(self, attempt: Attempt) -> None:
        run_id = attempt.run.id
        self._attempts[run_id] = attempt
        attempt.start(lambda: self._attempts.pop(run_id, None))

    # what people and Apps ask for

    def rerun(self, run: Run, by: User, only: set[str] | None = None) -> bool:
        """Another attempt of the same run on the same commit: all of its jobs, or those named and what needs them.

        False while it still runs.
        """
        if run.status != "completed" or run.id in self._attempts:
            return False
        one = next(
            (f for f in planning.workflows(run.repository.git, run.checkout_sha) if f.path == run.workflow.path), None
        )
        if one is None or one.spec is None:
            return False
        now = self._store.now()
        names = None if only is None else _with_dependents(one, only)
        for job in self._store.jobs_at(run, run.attempt):
            if names is None or job.key.partition("/")[0] in names:
                job.check.superseded = True
        run.past[run.attempt] = replace(run)
        run.attempt, run.status, run.conclusion, run.cancelled = run.attempt + 1, "queued", None, False
        run.triggering_actor, run.started_at, run.updated_at = by, now, now
        run.suite.status, run.suite.conclusion = "queued", None
        acts.tell_run(self._forge, run, "requested")
        self._launch(run, one, names)
        return True

    def rerun_failed(self, run: Run, by: User) -> bool:
        """The failed jobs, and those that hang on them. False while it still runs."""
        jobs = self._store.jobs_at(run, run.attempt)
        return self.rerun(run, by, {job.key.partition("/")[0] for job in jobs if job.conclusion not in _GOOD})

    def rerun_of_check(self, check: CheckRun, by: User) -> bool:
        """The job behind a check run."""
        job = self._store.jobs.get(check.job_id or 0)
        return job is not None and self.rerun_job(job, by)

    def rerun_job(self, job: Job, by: User) -> bool:
        return self.rerun(job.run, by, {job.key.partition("/")[0]})

    def approve(self, run: Run) -> bool:
        """Let a fork's run go. False when it waits for nobody."""
        if run.conclusion != "action_required":
            return False
        run.status, run.conclusion, run.suite.status, run.suite.conclusion = "queued", None, "queued", None
        one = next(f for f in planning.workflows(run.repository.git, run.checkout_sha) if f.path == run.workflow.path)
        self._launch(run, one)
        return True

    def dispatch(self, workflow: Workflow, ref: str, inputs: dict[str, Any], by: User) -> Run:
        """Run a workflow by hand. Raises `CannotStart` with GitHub's words."""
        start = self._starter.dispatched(workflow, ref, inputs, by)
        self._go(start)
        return start.run

    def schedule(self, repository: Repository) -> list[Run]:
        """It is time: run every workflow of the default branch that has a `schedule`."""
        starts = self._starter.of_default_branch(repository, "schedule", None, {}, repository.owner)
        for start in starts:
            self._go(start)
        return [start.run for start in starts]

    def review_environment(self, run: Run, environment: str, approved: bool) -> bool:
        """Let the jobs that wait for an environment go, or fail them. False when none waits."""
        answer = self._office.approvals.pop((run.id, environment), None)
        if answer is None or answer.done():
            return False
        answer.set_result(approved)
        return True

    def cancel(self, run: Run) -> bool:
        """End a run; False when it has ended."""
        if run.status == "completed":
            return False
        run.cancelled = True
        if run.id in self._attempts:
            self._attempts[run.id].cancel()
        return True


def _with_dependents(one: Found, names: set[str]) -> set[str]:
    found, jobs = set(names), one.spec.jobs if one.spec else {}
    while more := {key for key, spec in jobs.items() if key not in found and found.intersection(spec.needs)}:
        found |= more
    return found
