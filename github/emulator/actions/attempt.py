"""One attempt of a run: its jobs in the order of their needs, and the end."""

import asyncio
from collections.abc import Callable
from typing import Any

import structlog

from github.emulator.actions.language import matrix
from github.emulator.actions.language.expressions import BadExpression, Scope, as_text, truth
from github.emulator.actions.language.workflow import BadWorkflow, JobSpec, WorkflowSpec
from github.emulator.actions.runner import context
from github.emulator.actions.runner.jobrun import JobRun
from github.emulator.acts import checks
from github.emulator.acts import runs as acts
from github.emulator.faults import Faults
from github.emulator.forge import Forge
from github.emulator.store.runs import Job, Run

log = structlog.get_logger(__name__)
Json = dict[str, Any]


class Attempt:
    """Runs the jobs `only` (None: all); jobs left out keep the result of the attempt before."""

    def __init__(
        self,
        forge: Forge,
        faults: Faults,
        seconds: float,
        slots: asyncio.Semaphore,
        run: Run,
        spec: WorkflowSpec,
        only: set[str] | None,
    ) -> None:
        self.forge, self.run, self.spec = forge, run, spec
        self._faults, self._seconds = faults, seconds
        self._slots, self._only = slots, only
        self._cancelled = asyncio.Event()
        self._results: dict[str, Json] = {}
        self._watches: list[asyncio.Task[None]] = []
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
        try:
            await self._jobs()
            results = [row["result"] for row in self._results.values()]
            order = ("failure", "cancelled", "success")
            worst = next((word for word in order if word in results), "success" if not results else "skipped")
            self._end(self._faults.concluded(self.run.workflow.path, worst))
        except (BadWorkflow, BadExpression) as error:
            self.run.problem = str(error)
            self._end("startup_failure")
        except Exception:
            log.exception("ci.attempt_failed", run=self.run.id)
            self._end("failure")
        finally:
            for watch in self._watches:
                watch.cancel()

    def _end(self, conclusion: str) -> None:
        if not self.run.repository.deleted:  # else there is nobody left to tell
            acts.run_completed(self.forge, self.run, conclusion)

    async def _jobs(self) -> None:
        pending = dict(self.spec.jobs)
        for key in list(pending):
            if self._only is not None and key not in self._only:
                self._results[key] = self._before(key)
                pending.pop(key)
        running: dict[asyncio.Task[None], str] = {}
        while pending or running:
            for key, spec in list(pending.items()):
                if all(need in self._results for need in spec.needs):
                    running[asyncio.create_task(self._job(pending.pop(key)))] = key
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                running.pop(task)
                task.result()

    def _before(self, key: str) -> Json:
        """What a job came to in an earlier attempt."""
        jobs = [job for job in self.forge.store.jobs_of(self.run) if job.key == key and job.attempt < self.run.attempt]
        newest = max((job.attempt for job in jobs), default=0)
        found = [job for job in jobs if job.attempt == newest]
        outputs = {name: value for job in found for name, value in job.outputs.items()}
        return {"result": _together([job.conclusion or "skipped" for job in found]), "outputs": outputs}

    def _scope(self, spec: JobSpec, row: Json) -> Scope:
        needs = {need: self._results[need] for need in spec.needs}
        results = [need["result"] for need in self._upstream(spec)]
        broken = any(result in ("failure", "cancelled") for result in results)
        skipped = "skipped" in results
        ended = self._cancelled.is_set()
        names = {
            "github": context.github(self.forge.store, self.run, self.run.action),
            "needs": needs,
            "matrix": row,
            "vars": {},
            "inputs": {},
            "env": self.spec.env,
            "secrets": {},
            "strategy": {},
        }
        return Scope(
            names,
            {
                "success": lambda: not broken and not skipped and not ended,
                "failure": lambda: broken and not ended,
                "cancelled": lambda: ended,
                "always": lambda: True,
                "hashFiles": lambda *_: "",
            },
        )

    def _upstream(self, spec: JobSpec) -> list[Json]:
        return [self._results[need] for need in spec.needs]

    async def _job(self, spec: JobSpec) -> None:
        """All combinations of a job; its result is theirs together."""
        scope = self._scope(spec, {})
        if not scope.condition(spec.condition if spec.condition is not None else "success()"):
            self._skip(spec)
            return
        strategy = scope.value(spec.strategy or {})
        rows = matrix.unfold(strategy.get("matrix") if isinstance(strategy, dict) else None)
        fail_fast = truth(strategy.get("fail-fast", True)) if len(rows) > 1 else False
        stop = asyncio.Event()
        jobs = [self._queue(spec, row) for row in rows]
        tasks = [asyncio.create_task(self._one(spec, job, stop, fail_fast)) for job in jobs]
        conclusions = await asyncio.gather(*tasks)
        outputs = {name: value for job in jobs for name, value in job.outputs.items() if value}
        self._results[spec.key] = {"result": _together(list(conclusions)), "outputs": outputs}

    def _name(self, spec: JobSpec, row: Json) -> str:
        if spec.name is None:
            return spec.key + matrix.suffix(row)
        name = self._scope(spec, row).substitute(spec.name)
        return name if "${{" in spec.name else name + matrix.suffix(row)

    def _queue(self, spec: JobSpec, row: Json) -> Job:
        labels = self._scope(spec, row).value(spec.runs_on)
        shown = [as_text(item) for item in (labels if isinstance(labels, list) else [labels])]
        return acts.job_queued(self.forge, self.run, spec.key, self._name(spec, row), shown, row)

    def _skip(self, spec: JobSpec) -> None:
        """A skipped job has a check run and no log."""
        conclusion = "cancelled" if self._cancelled.is_set() else "skipped"
        job = acts.job_queued(self.forge, self.run, spec.key, spec.name or spec.key, [], {})
        acts.job_completed(self.forge, job, conclusion)
        self._results[spec.key] = {"result": conclusion, "outputs": {}}

    async def _one(self, spec: JobSpec, job: Job, stop: asyncio.Event, fail_fast: bool) -> str:
        async with self._slots:
            cancelled = await self._either(stop)
            if cancelled.is_set():
                acts.job_completed(self.forge, job, "cancelled")
                return "cancelled"
            needs = {need: self._results[need] for need in spec.needs}
            run = JobRun(self.forge.store, job, spec, self.spec, needs, cancelled, self._seconds)
            run.plan()
            acts.job_started(self.forge, job)
            conclusion = await run.run()
        acts.job_completed(self.forge, job, conclusion)
        raw = spec.continue_on_error
        forgiven = raw is not None and truth(self._scope(spec, job.matrix).value(raw))
        if conclusion == "failure" and fail_fast and not forgiven:
            stop.set()
        return "success" if forgiven and conclusion == "failure" else conclusion

    async def _either(self, stop: asyncio.Event) -> asyncio.Event:
        """One event for two reasons to end: the run is cancelled, or a brother failed first."""
        both = asyncio.Event()
        if self._cancelled.is_set() or stop.is_set():
            both.set()
            return both

        async def watch() -> None:
            waits = [asyncio.create_task(event.wait()) for event in (self._cancelled, stop)]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                both.set()
            finally:
                for wait in waits:
                    wait.cancel()

        self._watches.append(asyncio.create_task(watch()))
        return both


def _together(conclusions: list[str]) -> str:
    return checks.worst(conclusions) if conclusions else "skipped"
