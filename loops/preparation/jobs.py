"""A job of a workflow, found by its name and planned: its matrix, workflows it calls, what it needs of other jobs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from github.workflows import matrix
from github.workflows.expressions import BadExpression, Unknown, as_text
from github.workflows.workflow import BadWorkflow, JobSpec, WorkflowSpec, read
from loops.preparation.contexts import Known
from loops.preparation.plan import Bring, Command, Lack, Missing, Need, Plan, Read
from loops.preparation.run_steps import RunStep, as_run, failed_step
from loops.preparation.services import services
from loops.preparation.unroll import Unrolled

Json = dict[str, Any]
DEEPEST = 4  # workflows that call each other
LINUX = ("ubuntu", "linux", "debian", "alpine")
OTHERS = ("windows", "macos", "mac-", "win-", "s390x", "ppc64", "freebsd", "gpu")
OWN_RUNNER = "self-hosted"
UPLOADS = {"actions/upload-artifact": "artifact", "hynek/build-and-inspect-python-package": "Packages"}
"""Actions that keep an artifact, and its name where the step gives none."""


@dataclass(frozen=True)
class Caller:
    """How a workflow came to be run: by a job of another, with inputs and secrets, or (all empty) by itself."""

    key: str = ""
    name: str = ""
    inputs: Json = field(default_factory=dict)
    depth: int = 0


@dataclass(frozen=True)
class Workflows:
    """The workflows of a repository. `github` is what is known of the run: `repository`, `sha`, `event_name`, …"""

    read: Read
    github: Json
    run: tuple[RunStep, ...] = ()

    def plans(self, path: str) -> Iterator[Plan]:
        """Plans for all jobs of the workflow file, one for each row of a matrix. Raises `BadWorkflow`."""
        yield from self._all(self._spec(path), Caller())

    def plan(self, path: str, name: str, steps: Sequence[RunStep] = ()) -> Plan | None:
        """The plan of the job that GitHub shows by that name, and whose run had these steps. Raises `BadWorkflow`."""
        known = replace(self, run=tuple(steps))
        return next((each for each in known.plans(path) if each.name == name), None)

    def _spec(self, path: str) -> WorkflowSpec:
        text = self.read(path)
        if text is None:
            raise BadWorkflow(f"{path}: there is no such file")
        return read(text, path)

    def _all(self, spec: WorkflowSpec, caller: Caller) -> Iterator[Plan]:
        for job in spec.jobs.values():
            if job.uses is not None:
                yield from self._called(spec, job, caller)
            else:
                yield from self._rows(spec, job, caller)

    def _rows(self, spec: WorkflowSpec, job: JobSpec, caller: Caller) -> Iterator[Plan]:
        try:
            rows = self._matrix(job, caller)
        except (BadExpression, BadWorkflow) as error:
            name = caller.name + (job.name or job.key)
            yield Plan(caller.key + job.key, name, missing=(Missing(Lack.EXPRESSION, f"strategy.matrix: {error}"),))
            return
        for index, row in enumerate(rows):
            strategy = {"job-index": index, "job-total": len(rows), "max-parallel": len(rows), "fail-fast": True}
            yield _JobPlan(self, spec, job, caller, row, strategy).plan()

    def _matrix(self, job: JobSpec, caller: Caller) -> list[Json]:
        strategy = Known(self.github, {}, {}, caller.inputs, {}).scope().value(job.strategy or {})
        found = strategy.get("matrix") if isinstance(strategy, dict) else None
        if isinstance(found, Unknown):
            raise found.refuse()
        for key, values in found.items() if isinstance(found, dict) else ():
            if isinstance(values, Unknown):
                raise BadExpression(f"{key}: {values.refuse()}")
        return matrix.unfold(found)

    def _called(self, spec: WorkflowSpec, job: JobSpec, caller: Caller) -> Iterator[Plan]:
        """The jobs of the workflow that a job calls, once for each row of its matrix."""
        key, name, uses = caller.key + job.key, caller.name + (job.name or job.key), job.uses or ""
        text = self.read(uses.removeprefix("./")) if uses.startswith("./") else None
        if text is None or caller.depth >= DEEPEST:
            yield Plan(key, name, missing=(Missing(Lack.WORKFLOW, uses),))
            return
        try:
            callee = read(text, uses)
            rows = self._matrix(job, caller)
            declared = callee.triggers.get("workflow_call", {}).get("inputs") or {}
            defaults = {each: (about or {}).get("default", "") for each, about in declared.items()}
            for row in rows:
                known = Known(self.github, row, {}, caller.inputs, {})
                given = {each: known.scope().value(value) for each, value in job.inputs.items()}
                shown = _shown_name(job, known, row)
                inner = Caller(f"{key}/", f"{caller.name}{shown} / ", defaults | given, caller.depth + 1)
                yield from self._all(callee, inner)
        except (BadExpression, BadWorkflow) as error:
            yield Plan(key, name, missing=(Missing(Lack.WORKFLOW, f"{uses}: {error}"),))


def _shown_name(job: JobSpec, known: Known, row: Json) -> str:
    """The name that GitHub shows of a job with this row of its matrix."""
    if job.name is None:
        return job.key + matrix.suffix(row)
    name = known.scope().substitute(job.name)
    return name if "${{" in job.name else name + matrix.suffix(row)


class _JobPlan:
    """One job with one row of its matrix. `asking` are jobs whose artifacts are being looked for."""

    def __init__(
        self,
        workflows: Workflows,
        spec: WorkflowSpec,
        job: JobSpec,
        caller: Caller,
        row: Json,
        strategy: Json,
        asking: tuple[str, ...] = (),
    ) -> None:
        self._workflows, self._spec, self._job, self._caller = workflows, spec, job, caller
        self._asking = (*asking, job.key)
        self.known = Known(workflows.github | {"job": job.key}, row, strategy, caller.inputs, {})
        self._row = row

    def plan(self) -> Plan:
        job, known = self._job, self.known
        plan = Plan(self._caller.key + job.key, self._caller.name + (job.name or job.key))
        try:
            plan = replace(plan, name=self._caller.name + _shown_name(job, known, self._row))
            if other := other_runner(known.scope().value(job.runs_on)):
                return replace(plan, missing=(Missing(Lack.RUNNER, other),))
            for env in (self._spec.env, job.env):
                known.env = known.env | self._environment(env)
            needs, missing = self._around()
            defaults = self._spec.defaults | job.defaults
            run = self._workflows.run if len(self._asking) == 1 else ()
            ran, failed = as_run(job.steps, run, known.scope()), failed_step(job.steps, run, known.scope())
            known.forget(())  # what names asked for, nothing needs
            steps = Unrolled(known, self._workflows.read, defaults, self._artifacts, ran)
            steps.steps(job.steps if failed is None else job.steps[: failed + 1], {})
        except (BadExpression, BadWorkflow) as error:
            return replace(plan, missing=(Missing(Lack.EXPRESSION, str(error)),))
        env = {key: as_text(value) for key, value in known.env.items()}
        return replace(
            plan,
            commands=tuple(steps.commands),
            failed=failed,
            env=env,
            needs=tuple(dict.fromkeys([*needs, *steps.needs])),
            missing=tuple(dict.fromkeys([*missing, *steps.missing])),
        )

    def _environment(self, env: Json | str) -> Json:
        """A secret there is left out with its variable: as a rule one step needs it, which publishes."""
        before = list(self.known.missing)
        value = self.known.scope().value(env)
        self.known.forget(before)
        return value if isinstance(value, dict) else {}

    def _around(self) -> tuple[list[Need], list[Missing]]:
        """What stands around the steps: a container, services."""
        scope = self.known.scope()
        needs, missing = services(scope.value(self._job.services))
        container = scope.value(self._job.container)
        image = as_text(container.get("image") if isinstance(container, dict) else container)
        if image:
            needs.append(Need(Bring.CONTAINER, image))
        return needs, missing

    def _artifacts(self, given: dict[str, str]) -> tuple[list[Command], list[Need], list[Missing]]:
        """The steps of the jobs that this one waits for and that upload the artifact."""
        commands: list[Command] = []
        needs: list[Need] = []
        missing: list[Missing] = []
        for producer in self._producers(given.get("name", "")):
            made = self._producer(producer)
            commands += [replace(each, id=f"{producer.key}-{each.id}") for each in made.commands]
            needs += made.needs
            missing += made.missing
        if not commands and not missing:
            missing.append(Missing(Lack.ARTIFACT, given.get("name") or given.get("pattern") or "all"))
        return commands, needs, missing

    def _producer(self, job: JobSpec) -> Plan:
        """The first row that runs on Linux."""
        workflows, last = self._workflows, Plan(job.key, job.key)
        try:
            rows = workflows._matrix(job, self._caller)
        except (BadExpression, BadWorkflow) as error:
            return replace(last, missing=(Missing(Lack.EXPRESSION, f"strategy.matrix: {error}"),))
        for row in rows:
            last = _JobPlan(workflows, self._spec, job, self._caller, row, {}, self._asking).plan()
            if not any(each.kind is Lack.RUNNER for each in last.missing):
                break
        return last

    def _producers(self, name: str) -> list[JobSpec]:
        """The jobs before this one that upload something by that name, or by one that only they can tell."""
        jobs, waiting, before = self._spec.jobs, list(self._job.needs), []
        while waiting:
            key = waiting.pop(0)
            if key not in self._asking and jobs[key] not in before:
                before.append(jobs[key])
                waiting += jobs[key].needs
        return [job for job in before if any(_uploads(each, name) for each in _names(job))]


def _names(job: JobSpec) -> list[str]:
    uploads = [each for each in job.steps if (each.uses or "").partition("@")[0] in UPLOADS]
    return [as_text(each.inputs.get("name", UPLOADS[(each.uses or "").partition("@")[0]])) for each in uploads]


def _uploads(written: str, name: str) -> bool:
    return not name or written == name or "${{" in written


def other_runner(runs_on: Any) -> str:
    """The runner that a job asks for where that is not one of Linux on x64 or arm; empty where it is."""
    asked = runs_on.get("labels", runs_on.get("group", "")) if isinstance(runs_on, dict) else runs_on
    if isinstance(asked, Unknown):
        return asked.name
    labels = [as_text(each).lower() for each in (asked if isinstance(asked, list) else [asked])]
    if any(word in label for label in labels for word in OTHERS):
        return ", ".join(labels)
    fits = any(word in label for label in labels for word in LINUX) or labels == [OWN_RUNNER]
    return "" if fits else ", ".join(labels)
