"""Reusable workflows: a job's `uses:` of a workflow file, found and read before anything runs."""

from collections.abc import Mapping
from typing import Any

from github.emulator.store.repositories import Repository
from github.emulator.store.store import Store
from github.workflows.workflow import BadWorkflow, WorkflowSpec, read

Json = dict[str, Any]
MAX_DEPTH = 10


def callees(store: Store, repository: Repository, commit: str, spec: WorkflowSpec, depth: int = 1) -> Json:
    """All workflows that the jobs of one call, by what `uses:` says. Raises `BadWorkflow` for one that is not there."""
    found: Json = {}
    for job in spec.jobs.values():
        if job.uses is None or job.uses in found:
            continue
        if depth >= MAX_DEPTH:
            raise BadWorkflow(f"job {job.key!r}: workflows call each other more than {MAX_DEPTH} deep")
        place, sha, path = _where(store, repository, commit, job.uses)
        entry = place.git.entry(sha, path)
        if entry is None or entry.kind != "blob":
            raise BadWorkflow(f"error parsing called workflow {job.uses!r}: workflow was not found.")
        callee = read(place.git.read(entry.sha).decode(errors="replace"), path)
        if "workflow_call" not in callee.triggers:
            raise BadWorkflow(f"error parsing called workflow {job.uses!r}: it has no `workflow_call` trigger")
        found[job.uses] = callee
        found |= callees(store, place, sha, callee, depth + 1)
    return found


def _where(store: Store, repository: Repository, commit: str, uses: str) -> tuple[Repository, str, str]:
    if uses.startswith("./"):
        return repository, commit, uses.removeprefix("./")
    name, _, ref = uses.partition("@")
    owner, _, rest = name.partition("/")
    repo, _, path = rest.partition("/")
    found = store.repository(f"{owner}/{repo}")
    sha = found.git.resolve(ref) if found is not None else None
    if found is None or sha is None:
        raise BadWorkflow(f"error parsing called workflow {uses!r}: the local GitHub has no such repository or ref")
    return found, sha, path


def inputs(callee: WorkflowSpec, given: Mapping[str, Any]) -> Json:
    """The callee's inputs: what the caller gives, else their defaults. Raises `BadWorkflow` for what is missing."""
    declared = callee.triggers["workflow_call"].get("inputs") or {}
    if unknown := [name for name in given if name not in declared]:
        raise BadWorkflow(f"Invalid input, {unknown[0]} is not defined in the referenced workflow.")
    found: Json = {}
    for name, item in declared.items():
        settings = item or {}
        if name not in given and settings.get("required") and "default" not in settings:
            raise BadWorkflow(f"Input {name} is required, but not provided while calling.")
        empty = {"boolean": False, "number": 0}.get(str(settings.get("type")), "")
        found[name] = given.get(name, settings.get("default", empty))
    return found
