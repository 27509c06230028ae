"""One attempt of a run, carried through: jobs in the order of their needs, matrices unfolded, and its conclusion."""

import asyncio
from typing import TYPE_CHECKING, Any

import structlog

from github.emulator.actions import context, matrix
from github.emulator.actions.expressions import BadExpression, Scope, as_text, truth
from github.emulator.actions.jobrun import JobRun
from github.emulator.actions.workflow import BadWorkflow, JobSpec, WorkflowSpec
from github.emulator.acts import checks, runs
from github.emulator.store.runs import Job, Run

if TYPE_CHECKING:
    from github.emulator.hub import Hub

log = structlog.get_logger(__name__)
Json = dict[str, Any]


class Carrier:
    """Carries the jobs `keys` of a run; the others ended in an earlier attempt."""

    def __init__(self, hub: "Hub", run: Run, spec: WorkflowSpec, keys: set[str], slots: asyncio.Semaphore) -> None:
        self._hub, self._run, self._spec, self._keys, self._slots = hub, run, spec, keys, slots
        self._cancelled = asyncio.Event()
        self._groups: dict[str, asyncio.Event] = {}
        self._needs: dict[str, Json] = {}

    def cancel(self) -> None:
        """End what runs, and begin nothing more."""
        self._run.cancelled = True
        self._cancelled.set()
        for event in self._groups.values():
            event.set()

    async def carry(self) -> None:
        """To the end of the attempt."""
        results: dict[str, str] = {}
        for key in self._spec.jobs.keys() - self._keys:
            jobs = [job for job in self._hub.store.jobs_of(self._run, self._run.attempt) if job.key == key]
            results[key] = checks.worst([job.conclusion or "success" for job in jobs])
            self._needs[key] = {"result": results[key], "outputs": jobs[-1].outputs if jobs else {}}
        try:
            while left := [key for key in self._spec.jobs if key not in results]:
                ready = [key for key in left if results.keys() >= set(self._spec.jobs[key].needs)]
                ended = await asyncio.gather(*(self._job(self._spec.jobs[key]) for key in ready))
                results.update(zip(ready, ended, strict=True))
        except Exception as error:
            log.error("ci.failed", run=self._run.id, exc_info=error)
            results["?"] = "startup_failure"
        conclusion = "cancelled" if self._run.cancelled else checks.worst(list(results.values()))
        runs.run_completed(self._hub, self._run, conclusion)

    async def _job(self, spec: JobSpec) -> str:
        """One entry under `jobs:`: what it means for those that need it."""
        scope = self._scope(spec)
        name = spec.name or spec.key
        try:
            wanted = scope.condition(spec.condition if spec.condition is not None else "success()")
            rows = matrix.unfold(scope.value((spec.strategy or {}).get("matrix"))) if wanted and not spec.uses else []
        except (BadExpression, BadWorkflow, AttributeError) as error:
            log.info("ci.bad_job", run=self._run.id, job=spec.key, error=str(error))
            return self._without_running(spec, name, "failure")
        if not rows:
            return self._without_running(spec, name, "cancelled" if self._cancelled.is_set() else "skipped")
        group = self._groups[spec.key] = asyncio.Event()
        if self._cancelled.is_set():
            group.set()
        jobs = [self._queue(spec, row, scope) for row in rows]
        fail_fast = truth(scope.value((spec.strategy or {}).get("fail-fast", True)))
        conclusions = await asyncio.gather(
            *(self._one(job, spec, group, fail_fast=fail_fast and len(jobs) > 1) for job in jobs)
        )
        forgiven = spec.continue_on_error is not None and truth(scope.value(spec.continue_on_error))
        result = "success" if forgiven and "failure" in conclusions else checks.worst(conclusions)
        self._needs[spec.key] = {"result": result, "outputs": jobs[-1].outputs}
        return result

    def _queue(self, spec: JobSpec, row: Json, scope: Scope) -> Job:
        seen = Scope({**scope.contexts, "matrix": row}, scope.functions)
        named = seen.substitute(spec.name) if spec.name else f"{spec.key}{matrix.suffix(row)}"
        labels = seen.value(spec.runs_on)
        shown = [as_text(label) for label in labels] if isinstance(labels, list) else [as_text(labels)]
        return runs.job_queued(self._hub, self._run, spec.key, named, shown, row)

    async def _one(self, job: Job, spec: JobSpec, group: asyncio.Event, *, fail_fast: bool) -> str:
        needs = {key: self._needs[key] for key in spec.needs}
        work = JobRun(self._hub, job, spec, self._spec, needs, group)
        work.plan()
        async with self._slots:
            if group.is_set():
                await asyncio.to_thread(work.space.remove)
                runs.job_completed(self._hub, job, "cancelled")
                return "cancelled"
            runs.job_started(self._hub, job)
            conclusion = await work.run()
        runs.job_completed(self._hub, job, conclusion)
        if fail_fast and conclusion == "failure":
            group.set()
        return conclusion

    def _without_running(self, spec: JobSpec, name: str, conclusion: str) -> str:
        job = runs.job_queued(self._hub, self._run, spec.key, name, [], {})
        runs.job_completed(self._hub, job, conclusion)
        self._needs[spec.key] = {"result": conclusion, "outputs": {}}
        return conclusion

    def _scope(self, spec: JobSpec) -> Scope:
        """What a job's own expressions see: its needs, and the event."""
        needs = {key: self._needs[key] for key in spec.needs}
        results = [need["result"] for need in needs.values()]
        ended = self._cancelled.is_set()
        return Scope(
            {
                "github": context.github(self._hub, self._run, self._run.action),
                "needs": needs,
                "env": {},
                "vars": {},
                "inputs": {},
            },
            {
                "success": lambda: not ended and all(result == "success" for result in results),
                "failure": lambda: "failure" in results,
                "cancelled": lambda: ended,
                "always": lambda: True,
            },
        )
