"""From an event to the workflow runs that it starts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from github.emulator.actions import planning
from github.emulator.actions.planning import Found
from github.emulator.acts import checks, pulls
from github.emulator.acts import runs as acts
from github.emulator.forge import Event, Forge
from github.emulator.git import commits
from github.emulator.git.refs import Update
from github.emulator.store.apps import ACTIONS_ID
from github.emulator.store.issues import Pull
from github.emulator.store.repositories import Repository
from github.emulator.store.runs import Run, Workflow
from github.emulator.store.users import User
from github.workflows import triggers
from github.workflows.triggers import Occasion

Json = dict[str, Any]
ACTIONS_BOT = "github-actions[bot]"
PULL_EVENTS = ("pull_request", "pull_request_target")
REVIEW_EVENTS = ("pull_request_review", "pull_request_review_comment")
# these run the workflows of the default branch, whatever they are about
DEFAULT_BRANCH_EVENTS = ("issues", "issue_comment", "workflow_run", "create", "delete", "repository_dispatch")
EVENTS = ("push", "pull_request", "merge_group", *REVIEW_EVENTS, *DEFAULT_BRANCH_EVENTS)
# a run that a run started may start one more, and that one another
MAX_CHAIN = 3


class CannotStart(Exception):
    """The workflow cannot be run by hand; the text is GitHub's."""


@dataclass(frozen=True)
class StartedRun:
    """A new run and its workflow. `wait`: somebody has to approve it first."""

    run: Run
    found: Found
    wait: bool = False


class Starter:
    """Makes runs; whoever calls it sets them going."""

    def __init__(self, forge: Forge) -> None:
        self._forge, self._store = forge, forge.store

    def is_wanted(self, event: Event) -> bool:
        """Whether runs are to be expected of it at all: of most events none are, unless a workflow names them."""
        if event.name not in DEFAULT_BRANCH_EVENTS:
            return True
        git = event.repository.git
        commit = git.resolve(f"refs/heads/{event.repository.default_branch}")
        found = planning.workflows(git, commit) if commit is not None else []
        return any(one.spec is not None and event.name in one.spec.triggers for one in found)

    def of_event(self, event: Event) -> list[StartedRun]:
        """What starts now. What a job's own token does starts nothing but approval-bound runs of its pull requests."""
        repository, payload, by = event.repository, event.payload, event.sender
        if by.login == ACTIONS_BOT and event.name not in ("pull_request", "workflow_run", "repository_dispatch"):
            return []
        if event.name == "push":
            if payload["deleted"]:
                return []
            return list(self._of_push(repository, Update(payload["before"], payload["after"], payload["ref"]), by))
        if event.name == "pull_request" or event.name in REVIEW_EVENTS:
            shown = payload["pull_request"]
            issue = self._store.issue(repository, shown["number"])
            if issue is None or issue.pull is None or issue.pull.head_sha != shown["head"]["sha"]:
                return []
            names = PULL_EVENTS if event.name == "pull_request" else (event.name,)
            return [one for name in names for one in self._of_pull(issue.pull, name, event)]
        if event.name == "merge_group":
            return list(self._of_group(event)) if event.action == "checks_requested" else []
        if event.name == "workflow_run" and self._chain(payload["workflow_run"]["id"]) >= MAX_CHAIN:
            return []
        return self.of_default_branch(repository, event.name, event.action, payload, by)

    def _chain(self, run_id: int) -> int:
        run = self._store.runs.get(run_id)
        return 1 + self._chain(run.payload["workflow_run"]["id"]) if run and run.event == "workflow_run" else 0

    def _of_push(self, repository: Repository, update: Update, by: User) -> Iterator[StartedRun]:
        """A branch or tag was created or moved."""
        git, commit = repository.git, repository.git.resolve(update.new)
        if commit is None or triggers.skips(commits.read(git, commit).message):
            return
        name = update.ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
        found = planning.workflows(git, commit)
        occasion = planning.push_occasion(repository, update) if found else None
        for one in planning.wanted(found, occasion) if occasion else []:
            run = self._run(repository, one, "push", update.ref, commit, commit, name, repository, by)
            run.before = update.old
            yield StartedRun(run, one)

    def _of_pull(self, pull: Pull, name: str, event: Event) -> Iterator[StartedRun]:
        """A pull request was opened or changed. With a conflict nothing runs on its test merge."""
        repository, git, by = pull.repository, pull.repository.git, event.sender
        pulls.compute_merge(self._store, pull)
        of_base = name == "pull_request_target"
        commit = pull.base_sha if of_base else pull.merge_sha
        if commit is None or triggers.skips(commits.read(git, pull.head_sha).message):
            return
        found = planning.workflows(git, commit)
        occasion = planning.pull_occasion(pull, name, event.action or "") if found else None
        for one in planning.wanted(found, occasion) if occasion else []:
            head, branch = (pull.base_sha, pull.base_ref) if of_base else (pull.head_sha, pull.head_ref)
            source = repository if of_base else pull.head_repository
            ref = occasion.ref if occasion else ""
            run = self._run(repository, one, name, ref, head, commit, branch, source, by)
            run.action, run.pull_number = event.action, pull.number
            run.base_ref, run.base_sha = pull.base_ref, pull.base_sha
            if name in REVIEW_EVENTS:
                run.payload = dict(event.payload)
            approval = by.login == ACTIONS_BOT or planning.needs_approval(self._store, pull)
            yield StartedRun(run, one, wait=not of_base and approval)

    def _of_group(self, event: Event) -> Iterator[StartedRun]:
        """A merge queue wants to know of a group: the workflows are those of the group itself."""
        repository, group = event.repository, event.payload["merge_group"]
        ref, base = group["head_ref"], group["base_ref"].removeprefix("refs/heads/")
        occasion = Occasion("merge_group", ref, base, action=event.action)
        for one in planning.wanted(planning.workflows(repository.git, group["head_sha"]), occasion):
            head, name = group["head_sha"], ref.removeprefix("refs/heads/")
            run = self._run(repository, one, "merge_group", ref, head, head, name, repository, event.sender)
            run.action, run.payload = event.action, {"action": event.action, **event.payload}
            yield StartedRun(run, one)

    def of_default_branch(
        self, repository: Repository, name: str, action: str | None, payload: Json, by: User
    ) -> list[StartedRun]:
        """Runs of the default branch's workflows that want this event."""
        commit = repository.git.resolve(f"refs/heads/{repository.default_branch}")
        if commit is None:
            return []
        source = payload.get("workflow_run") or {}
        branch = source.get("head_branch") if name == "workflow_run" else None
        ref = f"refs/heads/{repository.default_branch}"
        occasion = Occasion(name, ref, branch, action=action, source=source.get("name"))
        starts = []
        for one in planning.wanted(planning.workflows(repository.git, commit), occasion):
            run = self._run(repository, one, name, ref, commit, commit, repository.default_branch, repository, by)
            run.action, run.payload = action, {"action": action, **payload} if action else dict(payload)
            starts.append(StartedRun(run, one))
        return starts

    def dispatched(self, workflow: Workflow, ref: str, inputs: Json, by: User) -> StartedRun:
        """A run by hand of that workflow as it is at `ref`. Raises `CannotStart`."""
        repository, path = workflow.repository, workflow.path
        sha = repository.git.resolve(ref.removeprefix("refs/heads/").removeprefix("refs/tags/"))
        if sha is None:
            raise CannotStart(f"No ref found for: {ref}")
        one = next((each for each in planning.workflows(repository.git, sha) if each.path == path), None)
        wanted = one.spec.triggers.get("workflow_dispatch") if one is not None and one.spec is not None else None
        if one is None or wanted is None:
            raise CannotStart("Workflow does not have 'workflow_dispatch' trigger")
        declared = wanted.get("inputs") or {}
        if unknown := [name for name in inputs if name not in declared]:
            raise CannotStart(f"Unexpected inputs provided: {unknown}")
        for name, item in declared.items():
            if name not in inputs and (item or {}).get("required") and "default" not in item:
                raise CannotStart(f"Required input '{name}' not provided")
        name = ref.removeprefix("refs/heads/")
        full = ref if ref.startswith("refs/") else f"refs/heads/{ref}"
        run = self._run(repository, one, "workflow_dispatch", full, sha, sha, name, repository, by)
        run.inputs = {key: (item or {}).get("default", "") for key, item in declared.items()} | inputs
        run.payload = {"inputs": run.inputs, "ref": full, "workflow": path}
        return StartedRun(run, one)

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
