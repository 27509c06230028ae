"""The CI engine: reads workflows, makes runs, and sees them through."""

import asyncio
from dataclasses import replace

import structlog

from github.emulator.actions import planning
from github.emulator.actions.attempt import Attempt
from github.emulator.actions.jobs import Office
from github.emulator.actions.language import triggers
from github.emulator.actions.planning import Found
from github.emulator.actions.shelf import LogShelf
from github.emulator.acts import checks, pulls
from github.emulator.acts import runs as acts
from github.emulator.faults import Faults
from github.emulator.forge import Event, Forge
from github.emulator.git import commits
from github.emulator.git.refs import Update
from github.emulator.options import Options
from github.emulator.store.apps import ACTIONS_ID
from github.emulator.store.checks import CheckRun
from github.emulator.store.issues import Pull
from github.emulator.store.repositories import Repository
from github.emulator.store.runs import Job, Run
from github.emulator.store.users import User
from github.emulator.tokens import Mint

log = structlog.get_logger(__name__)
_GOOD = ("success", "neutral", "skipped")
ACTIONS_BOT = "github-actions[bot]"
EVENTS = ("push", "pull_request")
PULL_EVENTS = ("pull_request", "pull_request_target")


class Engine:
    """Reacts to pushes and pull requests. Everything happens on the server's loop; what comes before it waits."""

    def __init__(self, forge: Forge, faults: Faults, mint: Mint, options: Options) -> None:
        self._forge, self._store, self._faults = forge, forge.store, faults
        self.logs = LogShelf(forge.store)
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
        if event.sender.login == ACTIONS_BOT and event.name == "push":
            return  # what a job's token pushes starts no runs
        faults = self._faults.for_ci(event.name, event.action)
        if any(fault.kind == "ci_lost" for fault in faults):
            return
        delay = sum(fault.seconds for fault in faults)
        if not delay or not self._started:
            self._react(event)
            return

        def late() -> None:
            try:
                self._react(event)
            finally:  # busy until the runs are: others look from another thread
                self._delayed.discard(handle)

        handle = asyncio.get_running_loop().call_later(delay, late)
        self._delayed.add(handle)

    def _react(self, event: Event) -> None:
        if event.repository.deleted:
            return
        if event.name == "push" and not event.payload["deleted"]:
            update = Update(event.payload["before"], event.payload["after"], event.payload["ref"])
            self._push(event.repository, update, event.sender)
        if event.name == "pull_request" and event.action is not None:
            issue = self._store.issue(event.repository, event.payload["number"])
            head = event.payload["pull_request"]["head"]["sha"]
            if issue is not None and issue.pull is not None and issue.pull.head_sha == head:
                self._pull_request(issue.pull, event.action, event.sender)

    def _push(self, repository: Repository, update: Update, by: User) -> None:
        """A branch or tag was created or moved."""
        git, commit = repository.git, repository.git.resolve(update.new)
        if commit is None:
            return
        branch = update.ref.removeprefix("refs/heads/") if update.ref.startswith("refs/heads/") else None
        if triggers.skips(commits.read(git, commit).message):
            return
        found = planning.workflows(git, commit)
        occasion = planning.push_occasion(repository, update) if found else None
        for one in planning.wanted(found, occasion) if occasion else []:
            run = self._run(
                repository,
                one,
                "push",
                update.ref,
                commit,
                commit,
                branch or update.ref.removeprefix("refs/tags/"),
                repository,
                by,
            )
            run.before = update.old
            self._go(run, one)

    def _pull_request(self, pull: Pull, action: str, by: User) -> None:
        """A pull request was opened or changed. With a conflict no `pull_request` workflow runs."""
        repository, git = pull.repository, pull.repository.git
        pulls.compute_merge(self._store, pull)
        if triggers.skips(commits.read(git, pull.head_sha).message):
            return
        for event in PULL_EVENTS:
            of_base = event == "pull_request_target"
            commit = pull.base_sha if of_base else pull.merge_sha
            if commit is None:
                continue
            found = planning.workflows(git, commit)
            occasion = planning.pull_occasion(pull, event, action) if found else None
            for one in planning.wanted(found, occasion) if occasion else []:
                head, branch = (pull.base_sha, pull.base_ref) if of_base else (pull.head_sha, pull.head_ref)
                source = repository if of_base else pull.head_repository
                ref = occasion.ref if occasion else ""
                run = self._run(repository, one, event, ref, head, commit, branch, source, by)
                run.action, run.pull_number = action, pull.number
                run.base_ref, run.base_sha = pull.base_ref, pull.base_sha
                self._go(
                    run,
                    one,
                    wait=not of_base and (by.login == ACTIONS_BOT or planning.needs_approval(self._store, pull)),
                )

    # runs

    def _run(
        self,
        repository: Repository,
        one: Found,
        event: str,
        ref: str,
        head: str,
        checkout: str,
        branch: str | None,
        source: Repository | None,
        by: User,
    ) -> Run:
        store, now = self._store, self._store.now()
        name = one.spec.name if one.spec else one.path
        workflow = acts.workflow_of(self._forge, repository, one.path, name)
        app = next(app for app in store.apps if app.id == ACTIONS_ID)
        crosses = source is not repository
        suite = checks.suite_created(self._forge, repository, app, head, None if crosses else branch, None, head)
        number = repository.last_run_number.get(one.path, 0) + 1
        repository.last_run_number[one.path] = number
        run = Run(
            id=store.runs.new_id(),
            repository=repository,
            workflow=workflow,
            name=name,
            title=commits.read(repository.git, head).headline,
            event=event,
            ref=ref,
            head_sha=head,
            checkout_sha=checkout,
            head_branch=branch,
            head_repository=source,
            number=number,
            suite=suite,
            actor=by,
            triggering_actor=by,
            created_at=now,
            updated_at=now,
            started_at=now,
        )
        suite.run_id = run.id
        return store.runs.add(run)

    def _go(self, run: Run, one: Found, wait: bool = False) -> None:
        acts.tell_run(self._forge, run, "requested")
        if one.spec is None:
            log.info("ci.bad_workflow", path=one.path, problem=one.problem)
            run.problem = one.problem
            acts.run_completed(self._forge, run, "startup_failure")
        elif wait:
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
