"""The `github` context of a run, and the variables that repeat it."""

from typing import Any

from github.emulator.store.runs import Run
from github.emulator.store.store import Store
from github.emulator.views import pulls, repositories, users

Json = dict[str, Any]


def github(store: Store, run: Run, action: str | None) -> Json:
    """What `github.*` is in this run."""
    repository = run.repository
    pull = None
    if run.pull_number is not None:
        issue = store.issue(repository, run.pull_number)
        pull = issue.pull if issue else None
    event: Json = {
        "repository": repositories.repository(store, repository),
        "sender": users.simple(store, run.triggering_actor),
        **run.payload,
    }
    ref = f"refs/heads/{run.head_branch}"
    if pull is not None:
        ref = f"refs/pull/{pull.number}/merge"
        if run.event == "pull_request_target":
            ref = f"refs/heads/{run.base_ref}"
        event |= {"action": action, "number": pull.number, "pull_request": pulls.full(store, pull)}
    elif run.ref.startswith("refs/tags/"):
        ref = run.ref
    if run.event == "push":
        event |= {"ref": ref, "before": run.before, "after": run.head_sha}
    kind = "tag" if ref.startswith("refs/tags/") else "branch"
    name = ref.removeprefix("refs/").partition("/")[2]
    return {
        "event_name": run.event,
        "event": event,
        "sha": run.checkout_sha,
        "ref": ref,
        "ref_name": name,
        "ref_type": kind,
        "ref_protected": "false",
        "head_ref": pull.head_ref if pull else "",
        "base_ref": run.base_ref or "",
        "actor": run.actor.login,
        "actor_id": str(run.actor.id),
        "triggering_actor": run.triggering_actor.login,
        "repository": repository.full_name,
        "repository_id": str(repository.id),
        "repository_owner": repository.owner.login,
        "repository_owner_id": str(repository.owner.id),
        "run_id": str(run.id),
        "run_number": str(run.number),
        "run_attempt": str(run.attempt),
        "workflow": run.workflow.name,
        "workflow_ref": f"{repository.full_name}/{run.workflow.path}@{ref}",
        "workflow_sha": run.checkout_sha,
        "server_url": store.origins.web,
        "api_url": store.origins.api,
        "graphql_url": f"{store.origins.web}/graphql",
        "token": "",
        "retention_days": "90",
    }


def variables(context: Json) -> dict[str, str]:
    """The `GITHUB_…` variables that every step has."""
    names = {
        key: value for key, value in context.items() if isinstance(value, str) and key not in ("token", "workspace")
    }
    return {f"GITHUB_{key.upper()}": value for key, value in names.items()} | {
        "GITHUB_ACTIONS": "true",
        "CI": "true",
        "RUNNER_OS": "Linux",
        "RUNNER_ARCH": "X64",
        "RUNNER_NAME": "GitHub Actions 1",
        "RUNNER_ENVIRONMENT": "github-hosted",
    }
