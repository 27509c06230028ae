"""The CI engine: which workflows an event starts, running them again, and cancelling them."""

import asyncio
import contextlib
from typing import TYPE_CHECKING

from github.emulator.actions import triggers, workflow
from github.emulator.actions.carry import Carrier
from github.emulator.actions.shelf import LogShelf
from github.emulator.actions.triggers import Occasion
from github.emulator.actions.workflow import WorkflowSpec
from github.emulator.acts import checks, pulls, runs
from github.emulator.defaults import ACTIONS_ID
from github.emulator.git import commits, diff
from github.emulator.git.policy import Update
from github.emulator.git.repository import EMPTY_TREE, ZERO
from github.emulator.store.checks import CheckRun
from github.emulator.store.pulls import Pull
from github.emulator.store.repositories import Repository
from github.emulator.store.runs import Job, Run
from github.emulator.store.users import User

if TYPE_CHECKING:
    from github.emulator.hub import Hub

FOLDER = ".github/workflows"


class Engine:
    """Reacts to pushes and pull requests with runs of the workflows of the commit concerned."""

    def __init__(self, hub: "Hub") -> None:
        self._hub = hub
        self.logs = LogShelf(hub)
        self._slots: asyncio.Semaphore | None = None
        self._carriers: dict[int, Carrier] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._slots = asyncio.Semaphore(self._hub.options.parallel_jobs)

    async def stop(self) -> None:
        for carrier in list(self._carriers.values()):
            carrier.cancel()
        for task in list(self._tasks):
            with contextlib.suppress(asyncio.CancelledError):
                await task

    @property
    def busy(self) -> bool:
        return bool(self._tasks)

    def push(self, repository: Repository, update: Update, by: User) -> None:
        """A branch or tag was created or moved."""
        branch = update.ref.removeprefix("refs/heads/") if update.ref.startswith("refs/heads/") else None
        tag = update.ref.removeprefix("refs/tags/") if update.ref.startswith("refs/tags/") else None
        if branch is not None:
            checks.suites_requested(self._hub, repository, update.new, branch, update.old, by)
        git = repository.git
        if triggers.skips(commits.read(git, update.new).message):
            return
        older = update.old if update.old != ZERO and git.has(update.old) else EMPTY_TREE
        paths = [change.path for change in diff.changes(git, older, update.new)]
        occasion = Occasion("push", update.ref, branch, tag, paths=paths)
        for path, spec in self._workflows(repository, update.new):
            if isinstance(spec, WorkflowSpec) and not triggers.starts(spec, occasion):
                continue
            run = self._run(repository, path, spec, occasion, update.new, update.new, branch, update.old, by)
            self._begin(run, spec)

    def pull_request(self, pull: Pull, action: str, by: User) -> None:
        """A pull request was opened, moved or changed. One that conflicts starts nothing."""
        hub, repository = self._hub, pull.repository
        if not pull.open:
            return
        pulls.compute_merge(hub, pull)
        if pull.merge_sha is None or triggers.skips(commits.read(repository.git, pull.head_sha).message):
            return
        base = repository.git.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha
        paths = [change.path for change in diff.changes(repository.git, base, pull.head_sha)]
        occasion = Occasion("pull_request", f"refs/pull/{pull.number}/merge", pull.base_ref, action=action, paths=paths)
        for path, spec in self._workflows(repository, pull.merge_sha):
            if not isinstance(spec, WorkflowSpec) or not triggers.starts(spec, occasion):
                continue
            head, merge = pull.head_sha, pull.merge_sha
            run = self._run(repository, path, spec, occasion, head, merge, pull.head_ref, None, by)
            run.head_repository, run.pull_number = pull.head_repository, pull.number
            run.base_ref, run.base_sha, run.action = pull.base_ref, pull.base_sha, action
            self._begin(run, spec)

    def rerun(self, run: Run, by: User, *, only_failed: bool = False) -> bool:
        """Run again: all jobs, or those that failed and what needs them. False while it has not completed."""
        if run.status != "completed":
            return False
        spec = self._spec(run)
        if isinstance(spec, str):
            return False
        failed = {job.key for job in self._hub.store.jobs_of(run, run.attempt) if job.conclusion not in _GOOD}
        keys = _with_dependents(spec, failed) if only_failed else set(spec.jobs)
        self._again(run, spec, keys, by)
        return True

    def rerun_job(self, job: Job, by: User) -> bool:
        """Run one job, and what needs it, again. False while its run has not completed."""
        spec = self._spec(job.run)
        if job.run.status != "completed" or isinstance(spec, str):
            return False
        self._again(job.run, spec, _with_dependents(spec, {job.key}), by)
        return True

    def rerun_of_check(self, row: CheckRun, by: User) -> bool:
        """A check run of a job was rerequested."""
        job = self._hub.store.jobs.get(row.job_id) if row.job_id is not None else None
        return job is not None and self.rerun_job(job, by)

    def cancel(self, run: Run) -> bool:
        """Cancel a run. False when it has ended already."""
        carrier = self._carriers.get(run.id)
        if carrier is None:
            return False
        carrier.cancel()
        return True

    def _workflows(self, repository: Repository, sha: str) -> list[tuple[str, WorkflowSpec | str]]:
        """The workflow files of a commit, read; for a bad one what is wrong with it."""
        git = repository.git
        found: list[tuple[str, WorkflowSpec | str]] = []
        for entry in git.tree(sha, recursive=True):
            name = entry.path
            if entry.kind != "blob" or not name.startswith(f"{FOLDER}/") or name.count("/") != 2:
                continue
            if name.endswith((".yml", ".yaml")):
                found.append((name, _read(git.read(entry.sha), name)))
        return found

    def _spec(self, run: Run) -> WorkflowSpec | str:
        known = dict(self._workflows(run.repository, run.checkout_sha))
        return known.get(run.workflow.path, "the workflow file is gone")

    def _run(
        self,
        repository: Repository,
        path: str,
        spec: WorkflowSpec | str,
        occasion: Occasion,
        head: str,
        checkout: str,
        branch: str | None,
        before: str | None,
        by: User,
    ) -> Run:
        hub, now = self._hub, self._hub.clock.now()
        name = spec.name if isinstance(spec, WorkflowSpec) else path
        row = runs.workflow_of(hub, repository, path, name)
        number = repository.last_run_number[path] = repository.last_run_number.get(path, 0) + 1
        app = next(app for app in hub.store.apps if app.id == ACTIONS_ID)
        suite = checks.suite_created(hub, repository, app, head, branch, before, head)
        run = Run(
            id=hub.store.runs.new_id(),
            repository=repository,
            workflow=row,
            name=name,
            title=commits.read(repository.git, head).headline,
            event=occasion.event,
            ref=occasion.ref,
            head_sha=head,
            checkout_sha=checkout,
            head_branch=branch,
            head_repository=repository,
            number=number,
            suite=suite,
            actor=by,
            triggering_actor=by,
            created_at=now,
            updated_at=now,
            started_at=now,
            before=before,
        )
        suite.run_id = run.id
        return hub.store.runs.add(run)

    def _begin(self, run: Run, spec: WorkflowSpec | str) -> None:
        runs.tell_run(self._hub, run, "requested")
        if isinstance(spec, str):
            runs.run_completed(self._hub, run, "startup_failure")
            return
        self._carry(run, spec, set(spec.jobs))

    def _again(self, run: Run, spec: WorkflowSpec, keys: set[str], by: User) -> None:
        """A further attempt: the jobs of `keys` anew, the others as they ended."""
        now = self._hub.clock.now()
        for job in self._hub.store.jobs_of(run, run.attempt):
            if job.key in keys:
                job.check.superseded = True
            else:
                job.attempt = run.attempt + 1
        run.attempt, run.triggering_actor, run.cancelled = run.attempt + 1, by, False
        run.status, run.conclusion, run.started_at, run.updated_at = "queued", None, now, now
        run.suite.status, run.suite.conclusion, run.suite.updated_at = "queued", None, now
        runs.tell_run(self._hub, run, "requested")
        self._carry(run, spec, keys)

    def _carry(self, run: Run, spec: WorkflowSpec, keys: set[str]) -> None:
        if self._slots is None:
            raise RuntimeError("the local GitHub does not serve yet: start it before anything is pushed")
        carrier = self._carriers[run.id] = Carrier(self._hub, run, spec, keys, self._slots)
        task = asyncio.get_running_loop().create_task(carrier.carry(), name=f"run {run.id}")
        self._tasks.add(task)

        def over(done: "asyncio.Task[None]") -> None:
            self._tasks.discard(done)
            if self._carriers.get(run.id) is carrier:
                del self._carriers[run.id]

        task.add_done_callback(over)


_GOOD = ("success", "skipped", "neutral")


def _read(content: bytes, path: str) -> WorkflowSpec | str:
    try:
        return workflow.read(content.decode("utf-8", "replace"), path)
    except workflow.BadWorkflow as error:
        return str(error)


def _with_dependents(spec: WorkflowSpec, keys: set[str]) -> set[str]:
    """The jobs of `keys` and all that need one of them, however far."""
    found = set(keys)
    while more := {key for key, job in spec.jobs.items() if key not in found and found.intersection(job.needs)}:
        found |= more
    return found
