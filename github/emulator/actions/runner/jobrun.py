"""One job, really run: an empty workspace, its steps one after another, its log."""

import asyncio
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

import structlog

from github.emulator.actions.runner import commands, context, local_action, process, runners, steps
from github.emulator.actions.runner.hashing import hash_files
from github.emulator.actions.runner.joblog import JobLog
from github.emulator.actions.runner.uses import CannotDo, Place, use
from github.emulator.actions.runner.workspace import Workspace, base_environment
from github.emulator.store.runs import Job, Step
from github.emulator.store.store import Store
from github.workflows.expressions import BadExpression, Scope, as_text, truth
from github.workflows.workflow import BadWorkflow, JobSpec, StepSpec, WorkflowSpec

log = structlog.get_logger(__name__)
Json = dict[str, Any]
MAX_MINUTES = 360
# what ends a step, or the job, as failed, with its words in the log
FAULTS = (BadExpression, BadWorkflow, CannotDo, steps.NoShell, OSError, subprocess.CalledProcessError)


class JobRun:
    """Runs a job whose row exists. `failed` and `cancelled` are what the status functions see."""

    def __init__(
        self,
        store: Store,
        job: Job,
        spec: JobSpec,
        workflow: WorkflowSpec,
        contexts: Json,
        rights: dict[str, str],
        cancelled: asyncio.Event,
        seconds: float,
    ) -> None:
        self.store, self.job, self.spec, self.workflow = store, job, spec, workflow
        self.log = JobLog(store.now)
        self.space = Workspace(job.run.repository.name)
        self.collector = commands.Collector(self.log.mask, self.log.masked)
        for secret in contexts["secrets"].values():
            self.log.mask(as_text(secret))
        self._cancelled = cancelled
        self._failed = False
        self._timed_out = False
        self._paths: list[str] = []
        self._extra_env: dict[str, str] = {}
        self._steps: Json = {}
        self._env: Json = {}
        self._contexts = contexts
        self._rights = [f"{name.replace('_', ' ').title().replace(' ', '')}: {level}" for name, level in rights.items()]
        self._inputs: Json | None = None
        self._mark = f"github_{uuid.uuid4().hex}"
        self._deadline = time.monotonic() + seconds
        self.github = context.github(store, job.run, job.run.action) | {
            "token": contexts["secrets"].get("GITHUB_TOKEN", ""),
            "job": spec.key,
            "workspace": str(self.space.checkout),
        }

    def scope(self, extra_env: Json | None = None) -> Scope:
        """What expressions see now."""
        ended = self._cancelled.is_set()
        state = "cancelled" if ended else "failure" if self._failed else "success"
        contexts = {
            "github": self.github,
            "env": self._env | self._extra_env | (extra_env or {}),
            "matrix": self.job.matrix,
            "steps": self._steps,
            "job": {"status": state},
            "runner": {
                "os": "Linux",
                "arch": "X64",
                "name": "GitHub Actions 1",
                "temp": str(self.space.temp),
                "tool_cache": str(self.space.tools),
                "environment": "github-hosted",
                "debug": "",
            },
            **self._contexts,
        }
        if self._inputs is not None:  # of the composite action that runs now
            contexts["inputs"] = self._inputs
        return Scope(
            contexts,
            {
                "success": lambda: state == "success",
                "failure": lambda: state == "failure",
                "cancelled": lambda: state == "cancelled",
                "always": lambda: True,
                "hashFiles": lambda *patterns: hash_files(self.space.checkout, *patterns),
            },
        )

    async def run(self) -> str:
        """Run to the end and say the conclusion. The log is on the job row then."""
        try:
            await self._set_up()
            for index, spec in enumerate(self.spec.steps):
                await self._step(self.job.steps[index + 1], index, spec)
            await self._clean_up()
        except FAULTS as error:
            self._failed = True
            self.log.line(f"##[error]{error}")
        finally:
            left = await asyncio.to_thread(process.sweep, self._mark)
            self.log.line("Cleaning up orphan processes")
            for name in left:
                self.log.line(f"Terminate orphan process: pid {name}")
            await asyncio.to_thread(self.space.remove)
            self.job.log = self.log.content()
            self.job.check.annotations += self.collector.annotations
        if self._cancelled.is_set() or self._timed_out:
            return "cancelled"
        return "failure" if self._failed else "success"

    def plan(self) -> None:
        """The steps as the API lists them: one before and one or two after those of the file."""
        names = ["Set up job", *[self.name(spec) for spec in self.spec.steps]]
        names += [f"Post {self.name(s)}" for s in self.spec.steps if s.uses and s.uses.startswith("actions/checkout@")]
        self.job.steps = [Step(name, number) for number, name in enumerate([*names, "Complete job"], 1)]

    def name(self, spec: StepSpec) -> str:
        """A step's name: its own, or what it runs."""
        if spec.name is not None:
            try:
                return self.scope().substitute(spec.name)
            except BadExpression:
                return spec.name
        first = (spec.run or spec.uses or "").strip().split("\n")[0]
        return f"Run {first}"

    async def _set_up(self) -> None:
        row = self.job.steps[0]
        _begin(row, self)
        scope = self.scope()
        self._env = {key: as_text(scope.value(value)) for key, value in self.workflow.env.items()}
        self._env |= self._values(self.spec.env, self.scope())
        self._minutes = float(as_text(scope.value(self.spec.timeout)) or MAX_MINUTES)
        self._deadline = min(self._deadline, time.monotonic() + self._minutes * 60)
        if problem := unable(self.spec, scope.value(self.spec.runs_on)):
            raise CannotDo(problem)
        self.log.line("Current runner version: '2.330.0'")
        self.log.group("Operating System", ["Ubuntu", "24.04.3", "LTS"])
        self.log.group("GITHUB_TOKEN Permissions", self._rights)
        self.log.line("Secret source: Actions")
        self.log.line("Prepare workflow directory")
        self.log.line("Prepare all required actions")
        self.log.line(f"Complete job name: {self.job.name}")
        (self.space.temp / "event.json").write_text(as_text(self.github["event"]))
        _end(row, self, "success")

    async def _step(self, row: Step, index: int, spec: StepSpec) -> None:
        env = self._values(spec.env, self.scope())
        wanted = self.scope(env).condition(spec.condition if spec.condition is not None else "success()")
        if not wanted or self._timed_out:
            _begin(row, self)
            _end(row, self, "skipped")
            self._steps[spec.id] = {"outputs": {}, "outcome": "skipped", "conclusion": "skipped"}
            return
        _begin(row, self)
        files = steps.StepFiles(self.space.temp, index)
        variables = files.make()
        try:
            outcome = await self._execute(row, index, spec, env, variables)
        except FAULTS as error:
            self.log.line(f"##[error]{error}")
            outcome = "failure"
        self._take(spec, files)
        forgiven = truth(self.scope(env).value(spec.continue_on_error)) if spec.continue_on_error is not None else False
        conclusion = "success" if forgiven and outcome == "failure" else outcome
        self._failed = self._failed or conclusion == "failure"
        self._steps[spec.id] |= {"outcome": outcome, "conclusion": conclusion}
        _end(row, self, conclusion)

    async def _execute(self, row: Step, index: int, spec: StepSpec, env: Json, files: dict[str, str]) -> str:
        if spec.uses is not None:
            inputs = {key: as_text(self.scope(env).value(value)) for key, value in spec.inputs.items()}
            if spec.uses.startswith("./"):
                return await self._composite(row, index, spec.uses, inputs)
            if spec.uses.lower().startswith("actions/checkout@"):
                inputs.setdefault("token", self.github["token"])
            where = Place(self.store, self.job.run, self.space, self.log)
            self.collector.outputs |= await use(where, spec.uses, inputs)
            return "success"
        scope = self.scope(env)
        text = scope.substitute(spec.run or "")
        defaults = self.workflow.defaults | self.spec.defaults
        shell = spec.shell or defaults.get("shell")
        folder = scope.substitute(str(spec.directory or defaults.get("working-directory") or "."))
        made = steps.script(text, None if shell is None else str(shell), self.space.temp, f"step{index}")
        shown_env = self._env | self._extra_env | env
        self.log.group(f"Run {text.strip().split(chr(10))[0]}", steps.shown_lines(text, made.shown, shown_env))
        place = self.space.checkout / folder
        if not place.is_dir():
            missing = f"An error occurred trying to start process '{made.argv[0]}' with working directory '{place}'. No"
            self.log.line(f"##[error]{missing} such file or directory")
            return "failure"
        limit = float(as_text(scope.value(spec.timeout)) or 0) * 60
        return await self._process(row, made, env | files, place, limit)

    async def _composite(self, row: Step, index: int, name: str, given: dict[str, str]) -> str:
        """A composite action of this checkout: its steps, one after another, with inputs and outputs of their own."""
        action = local_action.read(self.space.checkout, name)
        before, outer, failed = self._steps, self._inputs, self._failed
        self._steps, self._inputs = {}, action.inputs | given
        try:
            for number, spec in enumerate(action.steps):
                inner = Step(self.name(spec), 0)
                await self._step(inner, index * 100 + number + 1000, spec)
                if inner.conclusion in ("failure", "cancelled"):
                    return inner.conclusion
            outputs = {key: as_text(self.scope().value(value)) for key, value in action.outputs.items()}
        finally:
            # what failed inside fails the step, which may be forgiven
            self._steps, self._inputs, self._failed = before, outer, failed
        self.collector.outputs |= outputs
        return "success"

    def _values(self, env: Json | str, scope: Scope) -> dict[str, str]:
        value = scope.value(env)
        if not isinstance(value, dict):
            raise BadExpression(f"env: a mapping was expected, not {as_text(value)!r}")
        return {str(key): as_text(item) for key, item in value.items()}

    async def _process(self, row: Step, made: steps.Script, env: Json, place: Path, limit: float) -> str:
        left = max(self._deadline - time.monotonic(), 0.01)
        ended = await process.run(
            made.argv, self._variables(env), place, min(limit or left, left), self._line, self._cancelled
        )
        if ended.why == "cancelled":
            self.log.line("##[error]The operation was canceled.")
            return "cancelled"
        if ended.why == "timeout":
            if limit and limit < left:
                self.log.line(f"##[error]The action '{row.name}' has timed out after {limit / 60:g} minutes.")
                return "failure"
            self._timed_out = True
            self.log.line("##[error]The job has exceeded the maximum execution time while awaiting its step.")
            self._annotate(f"The job has exceeded the maximum execution time of {self._minutes:g}m0s")
            self.log.line("##[error]The operation was canceled.")
            return "cancelled"
        if ended.code:
            self.log.line(f"##[error]Process completed with exit code {ended.code}.")
            self._annotate(f"Process completed with exit code {ended.code}.")
            return "failure"
        return "success"

    def _annotate(self, message: str) -> None:
        lines = self.log.content().count(b"\n")
        self.collector.annotations.append(
            {
                "path": ".github",
                "start_line": lines,
                "end_line": lines,
                "annotation_level": "failure",
                "title": "",
                "message": message,
            }
        )

    def _line(self, text: str) -> None:
        shown = self.collector.shown(text)
        if shown is not None:
            self.log.line(shown)

    def _variables(self, env: Json) -> dict[str, str]:
        base = base_environment()
        path = ":".join([*reversed(self._paths), str(self.space.tools), base.get("PATH", "/usr/bin:/bin")])
        own = {
            "PATH": path,
            "HOME": str(self.space.home),
            "TMPDIR": str(self.space.temp),
            "RUNNER_TEMP": str(self.space.temp),
            "RUNNER_TOOL_CACHE": str(self.space.tools),
            "GITHUB_WORKSPACE": str(self.space.checkout),
            "GITHUB_JOB": self.spec.key,
            "GITHUB_EVENT_PATH": str(self.space.temp / "event.json"),
            process.MARKER: self._mark,
        }
        return base | context.variables(self.github) | own | self._env | self._extra_env | env

    def _take(self, spec: StepSpec, files: steps.StepFiles) -> None:
        """What the step left for those after it."""
        self._extra_env |= commands.read_file(files.text("GITHUB_ENV"))
        self._paths += [line for line in files.text("GITHUB_PATH").splitlines() if line]
        outputs = commands.read_file(files.text("GITHUB_OUTPUT")) | self.collector.outputs
        self.collector.outputs = {}
        self._steps[spec.id] = {"outputs": outputs}
        summary = files.text("GITHUB_STEP_SUMMARY")
        if summary:
            self.job.summary += self.log.masked(summary)

    async def _clean_up(self) -> None:
        scope = self.scope()
        self.job.outputs = {key: as_text(scope.value(value)) for key, value in self.spec.outputs.items()}
        for row in self.job.steps[len(self.spec.steps) + 1 :]:
            _begin(row, self)
            if row.name.startswith("Post "):
                self.log.line("Post job cleanup.")
                self.log.line("[command]/usr/bin/git version")
            _end(row, self, "success")


def unable(spec: JobSpec, runs_on: Any) -> str:
    """What of a job, with `runs-on:` evaluated, is not done here, in words; empty where all is."""
    if asked := next((name for name in ("services", "container") if getattr(spec, name)), ""):
        return f"The local GitHub runs jobs on this machine without containers: it cannot do `{asked}:`"
    return runners.refusal(runs_on)


def _begin(row: Step, run: JobRun) -> None:
    row.status, row.started_at = "in_progress", run.store.now()


def _end(row: Step, run: JobRun, conclusion: str) -> None:
    row.status, row.conclusion, row.completed_at = "completed", conclusion, run.store.now()
