"""The jobs of one workflow, in the order of their needs; a job that calls a workflow runs that one's jobs."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from github.emulator.actions import concurrency, reusable
from github.emulator.actions.concurrency import Groups, Ticket
from github.emulator.actions.permissions import permissions
from github.emulator.actions.runner import context, runners
from github.emulator.actions.runner.jobrun import JobRun
from github.emulator.acts import checks, installations
from github.emulator.acts import runs as acts
from github.emulator.forge import Forge
from github.emulator.store.installations import Installation
from github.emulator.store.runs import Job, Run
from github.emulator.store.store import Store
from github.emulator.tokens import Mint
from github.workflows import matrix
from github.workflows.expressions import BadExpression, Scope, as_text, truth
from github.workflows.workflow import BadWorkflow, JobSpec, WorkflowSpec

Json = dict[str, Any]
T = TypeVar("T")
BAD = (BadWorkflow, BadExpression)


@dataclass(frozen=True)
class Office:
    """What all jobs share: the forge, tokens, how many run at once and for how long, and who waits for whom."""

    forge: Forge
    mint: Mint
    seconds: float
    slots: asyncio.Semaphore
    groups: Groups = field(default_factory=Groups)
    approvals: dict[tuple[int, str], "asyncio.Future[bool]"] = field(default_factory=dict)


@dataclass(frozen=True)
class Frame:
    """A workflow at work: of the run itself, or called by a job, whose key and name stand before those of its jobs."""

    run: Run
    spec: WorkflowSpec
    callees: Mapping[str, WorkflowSpec]
    key: str = ""
    name: str = ""
    inputs: Json = field(default_factory=dict)
    secrets: Json = field(default_factory=dict)
    permissions: Any = None


def scope_of(
    store: Store, frame: Frame, needs: Json | None = None, row: Json | None = None, ended: bool = False
) -> Scope:
    """What expressions of a job see that has not begun; without needs those of the workflow itself."""
    results = [need["result"] for need in (needs or {}).values()]
    broken = any(result in ("failure", "cancelled") for result in results)
    skipped = "skipped" in results
    names = {
        "github": context.github(store, frame.run, frame.run.action),
        "needs": needs or {},
        "matrix": row or {},
        "vars": {},
        "inputs": frame.inputs,
        "env": frame.spec.env,
        "secrets": frame.secrets,
        "strategy": {},
    }
    functions = {
        "success": lambda: not broken and not skipped and not ended,
        "failure": lambda: broken and not ended,
        "cancelled": lambda: ended,
        "always": lambda: True,
    }
    return Scope(names, functions)


async def first(*events: asyncio.Event) -> None:
    """Wait until one of them is set."""
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


class Jobs:
    """Runs the jobs `only` (None: all); jobs left out keep the result of the attempt before."""

    def __init__(self, office: Office, frame: Frame, cancelled: asyncio.Event, only: set[str] | None = None) -> None:
        self._office, self._frame, self._cancelled, self._only = office, frame, cancelled, only
        self._forge, self._store, self._run = office.forge, office.forge.store, frame.run
        self.results: dict[str, Json] = {}

    def result(self) -> str:
        """What all came to together."""
        found = [row["result"] for row in self.results.values()]
        order = ("failure", "cancelled", "success")
        return next((word for word in order if word in found), "success" if not found else "skipped")

    async def all(self) -> None:
        """Run to the end."""
        pending = dict(self._frame.spec.jobs)
        for key in list(pending):
            if self._only is not None and key not in self._only:
                self.results[key] = self._before(key)
                pending.pop(key)
        running: set[asyncio.Task[None]] = set()
        while pending or running:
            ready = [key for key, spec in pending.items() if all(need in self.results for need in spec.needs)]
            running |= {asyncio.create_task(self._job(pending.pop(key))) for key in ready}
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()

    def _before(self, key: str) -> Json:
        """What a job came to in an earlier attempt; one that called a workflow is all of that one's jobs."""
        past = [job for job in self._store.jobs_of(self._run) if job.attempt < self._run.attempt]
        mine = [job for job in past if job.key == key or job.key.startswith(f"{key}/")]
        newest = max((job.attempt for job in mine), default=0)
        found = [job for job in mine if job.attempt == newest]
        outputs = {name: value for job in found for name, value in job.outputs.items()}
        return {"result": _together([job.conclusion or "skipped" for job in found]), "outputs": outputs}

    def _scope(self, spec: JobSpec, row: Json) -> Scope:
        needs = {need: self.results[need] for need in spec.needs}
        return scope_of(self._store, self._frame, needs, row, self._cancelled.is_set())

    async def _job(self, spec: JobSpec) -> None:
        """A job; one of which nobody can tell what to run fails by itself, and the others go on."""
        try:
            await self._combinations(spec)
        except BAD as error:
            name = self._frame.name + (spec.name or spec.key)
            job = acts.job_queued(self._forge, self._run, self._frame.key + spec.key, name, [], {})
            self._fail(job, f"Error when evaluating the job {spec.key!r}: {error}")
            self.results[spec.key] = {"result": "failure", "outputs": {}}

    def _fail(self, job: Job, message: str) -> None:
        """End a job that has not begun, with the word why: it has no log."""
        at = {"path": ".github", "start_line": 1, "end_line": 1, "annotation_level": "failure"}
        job.check.annotations.append({**at, "title": "", "message": message})
        acts.job_completed(self._forge, job, "failure")

    async def _combinations(self, spec: JobSpec) -> None:
        """All combinations of a job; its result is theirs together."""
        scope = self._scope(spec, {})
        if not scope.condition(spec.condition if spec.condition is not None else "success()"):
            self._skip(spec)
            return
        strategy = scope.value(spec.strategy or {})
        rows = matrix.unfold(strategy.get("matrix") if isinstance(strategy, dict) else None)
        fail_fast = truth(strategy.get("fail-fast", True)) if len(rows) > 1 else False
        stop = asyncio.Event()
        if spec.uses is not None:
            ends = await _all([self._call(spec, row) for row in rows])
        else:
            planned = [self._planned(spec, row) for row in rows]
            jobs = [acts.job_queued(self._forge, self._run, self._frame.key + spec.key, *each) for each in planned]
            about = [{"fail-fast": fail_fast, "job-index": n, "job-total": len(rows)} for n in range(len(rows))]
            tasks = [self._one(spec, job, stop, part) for job, part in zip(jobs, about, strict=True)]
            results = await _all(tasks)
            ends = [(result, job.outputs) for result, job in zip(results, jobs, strict=True)]
        outputs = {name: value for _, given in ends for name, value in given.items() if value}
        self.results[spec.key] = {"result": _together([result for result, _ in ends]), "outputs": outputs}

    async def _call(self, spec: JobSpec, row: Json) -> tuple[str, Json]:
        """Run the workflow that a job calls: what it came to, and its outputs."""
        scope, frame = self._scope(spec, row), self._frame
        callee = frame.callees[spec.uses or ""]
        given = {key: scope.value(value) for key, value in spec.inputs.items()}
        secrets = frame.secrets if spec.secrets == "inherit" else scope.value(spec.secrets or {})
        called = Frame(
            frame.run,
            callee,
            frame.callees,
            key=f"{frame.key}{spec.key}/",
            name=f"{frame.name}{self._name(spec, row)} / ",
            inputs=reusable.inputs(callee, given),
            secrets=secrets,
            permissions=next((p for p in (spec.permissions, frame.spec.permissions, frame.permissions) if p), None),
        )
        jobs = Jobs(self._office, called, self._cancelled)
        await jobs.all()
        declared = callee.triggers["workflow_call"].get("outputs") or {}
        seen = scope_of(self._store, called)
        seen.contexts["jobs"] = jobs.results
        outputs = {key: as_text(seen.value((item or {}).get("value"))) for key, item in declared.items()}
        return jobs.result(), outputs

    def _name(self, spec: JobSpec, row: Json) -> str:
        if spec.name is None:
            return spec.key + matrix.suffix(row)
        name = self._scope(spec, row).substitute(spec.name)
        return name if "${{" in spec.name else name + matrix.suffix(row)

    def _planned(self, spec: JobSpec, row: Json) -> tuple[str, list[str], Json]:
        """The name, the labels and the values of one combination."""
        labels = runners.labels_of(self._scope(spec, row).value(spec.runs_on))
        return self._frame.name + self._name(spec, row), labels, row

    def _skip(self, spec: JobSpec) -> None:
        """A skipped job has a check run and no log."""
        conclusion = "cancelled" if self._cancelled.is_set() else "skipped"
        name = self._frame.name + (spec.name or spec.key)
        job = acts.job_queued(self._forge, self._run, self._frame.key + spec.key, name, [], {})
        acts.job_completed(self._forge, job, conclusion)
        self.results[spec.key] = {"result": conclusion, "outputs": {}}

    async def _one(self, spec: JobSpec, job: Job, stop: asyncio.Event, strategy: Json) -> str:
        """One combination, to its end."""
        try:
            return await self._turn(spec, job, stop, strategy)
        except BAD as error:
            self._fail(job, f"Error when evaluating the job {spec.key!r}: {error}")
            return "failure"

    async def _turn(self, spec: JobSpec, job: Job, stop: asyncio.Event, strategy: Json) -> str:
        """One job: its turn in its group, its environment's approval, a free runner, and its steps."""
        scope, ending = self._scope(spec, job.matrix), asyncio.Event()
        wanted, environment = concurrency.asked(spec.concurrency, scope), as_text(scope.value(_environment(spec)))
        raw = spec.continue_on_error
        forgiven = raw is not None and truth(scope.value(raw))
        watch = asyncio.create_task(_set_after(ending, self._cancelled, stop))
        group, ticket = (self._run.repository.id, wanted[0]) if wanted else None, Ticket(ending.set)
        try:
            if group is not None and wanted is not None:
                self._office.groups.enter(group, ticket, wanted[1])
                await first(ticket.turn, ending)
            approved = await self._approved(job, environment, ending)
            conclusion = await self._steps(spec, job, strategy, ending) if approved else "failure"
        finally:
            watch.cancel()
            if group is not None:
                self._office.groups.leave(group, ticket)
        acts.job_completed(self._forge, job, conclusion)
        if conclusion == "failure" and strategy["fail-fast"] and not forgiven:
            stop.set()
        return "success" if forgiven and conclusion == "failure" else conclusion

    async def _steps(self, spec: JobSpec, job: Job, strategy: Json, ending: asyncio.Event) -> str:
        async with self._office.slots:
            if self._cancelled.is_set() or ending.is_set():
                return "cancelled"
            frame = self._frame
            rights = permissions(self._run, spec.permissions, frame.spec.permissions, frame.permissions)
            contexts = {
                "needs": {need: self.results[need] for need in spec.needs},
                "strategy": strategy | {"max-parallel": 1},
                "secrets": frame.secrets | {"GITHUB_TOKEN": self._token(rights)},
                "vars": {},
                "inputs": frame.inputs,
            }
            run = JobRun(self._store, job, spec, frame.spec, contexts, rights, ending, self._office.seconds)
            run.plan()
            acts.job_started(self._forge, job)
            return await run.run()

    def _token(self, rights: dict[str, str]) -> str:
        """The job's `GITHUB_TOKEN`: of the Actions App, for this repository."""
        store, repository = self._store, self._run.repository
        app, now = self._run.suite.app, store.now()
        row = Installation(store.installations.new_id(), app, repository.owner, rights, [], now, now)
        return installations.token_minted(self._forge, row, self._office.mint, rights, {repository.id}, True).token

    async def _approved(self, job: Job, environment: str, ending: asyncio.Event) -> bool:
        """Wait where the job's environment wants somebody to approve. False if they rejected it."""
        if environment not in self._run.repository.guarded_environments or ending.is_set():
            return True
        acts.job_waiting(self._forge, job)
        key = (self._run.id, environment)
        answer = self._office.approvals.setdefault(key, asyncio.get_running_loop().create_future())
        while not answer.done() and not ending.is_set():
            await asyncio.wait([answer], timeout=0.05)
        return answer.result() if answer.done() else True


def _environment(spec: JobSpec) -> Any:
    return spec.environment.get("name") if isinstance(spec.environment, dict) else spec.environment


async def _set_after(target: asyncio.Event, *events: asyncio.Event) -> None:
    await first(*events)
    target.set()


async def _all(parts: Iterable[Awaitable[T]]) -> list[T]:
    """What all of them come to. Raises what the first raised that did, when all have ended."""
    found = await asyncio.gather(*parts, return_exceptions=True)
    for each in found:
        if isinstance(each, BaseException):
            raise each
    return [each for each in found if not isinstance(each, BaseException)]


def _together(conclusions: list[str]) -> str:
    return checks.worst(conclusions) if conclusions else "skipped"
