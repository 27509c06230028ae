"""Which workflows a commit's own files promise to run: GitHub may take minutes until a run of a push is to be seen.

Only promises without a doubt count: a workflow with a filter on paths may be right not to run.
"""

import re
from collections.abc import Mapping, Sequence
from math import floor
from typing import Any, cast

from github.checks.model import Run
from github.client.errors import AnswerTooLarge, Forbidden, NotFound, UnreadableAnswer
from github.client.repository import RepositoryHandle
from github.repositories.queries import BLOB, UNCHANGING, WORKFLOWS, WORKFLOWS_FOLDER, file_at
from github.repositories.yamltext import read_yaml

ACTIONS_BOT = "github-actions[bot]"
OPENING = frozenset({"opened", "synchronize", "reopened"})  # what a pull request that was just pushed to comes with
_PARTS = re.compile(r"\*\*|\*|\?|\+|[^*?+]+")


async def workflows_at(repository: RepositoryHandle, sha: str) -> tuple[str, ...]:
    """The paths of the workflow files of a commit."""
    told = repository.app.told.get(repository.id, WORKFLOWS, sha, UNCHANGING)
    if told is not None:
        names = [str(each) for each in told[0]]
    else:
        try:
            listed = await repository.get(f"contents/{WORKFLOWS_FOLDER}", params={"ref": sha}, max_age=UNCHANGING)
        except (NotFound, Forbidden):
            return ()
        names = [str(each.get("name")) for each in listed]
    return tuple(f"{WORKFLOWS_FOLDER}/{name}" for name in names if name.endswith((".yml", ".yaml")))


async def late_workflows(
    repository: RepositoryHandle,
    sha: str,
    runs: Sequence[Run],
    paths: Sequence[str],
    *,
    branch: str | None,
    base: str | None,
    ready_at: float | None = None,
) -> tuple[str, ...]:
    """Those of the workflows `paths` that have to run for this commit on `branch`, and have no run among `runs` yet.

    `branch` is None where its push starts none, `base` is the base of its pull request, None without one. `ready_at` is
    when that stopped being a draft, in seconds of GitHub's clock: a workflow that wants to know runs once more.
    """
    begun = {run.path for run in runs}
    again = {run.path for run in runs if ready_at is not None and _is_since(run, ready_at)}
    late = []
    for path in paths:
        if path in again or (path in begun and (ready_at is None or base is None)):
            continue
        on = await _triggers(repository, path, sha)
        wanted = path not in begun and runs_for(on, branch, base)
        if wanted or (ready_at is not None and base is not None and runs_when_ready(on, base)):
            late.append(path)
    return tuple(late)


def _is_since(run: Run, ready_at: float) -> bool:
    """Whether a run may be for the pull request that is ready: GitHub tells whole seconds, and so does its clock."""
    return run.event == "pull_request" and run.created_at >= floor(ready_at) - 1


async def _triggers(repository: RepositoryHandle, path: str, sha: str) -> Any:
    """What the workflow file has under `on`; None where there is none to be had. Raises GitHubError for an outage."""
    try:
        node, problems = read_yaml(await _file(repository, path, sha) or b"")
    except (NotFound, Forbidden, AnswerTooLarge, UnreadableAnswer):
        return None
    if problems or node is None or not isinstance(node.value, dict):
        return None
    return node.value.get("on", node.value.get(True))  # YAML 1.1 reads a bare `on` as true


async def _file(repository: RepositoryHandle, path: str, sha: str) -> bytes | None:
    """The file at the commit; as of another commit, where it is known to be the same."""
    app, files = repository.app, repository.app.told.get(repository.id, WORKFLOWS, sha, UNCHANGING)
    blob = (files[0] if files else {}).get(path.removeprefix(f"{WORKFLOWS_FOLDER}/"))
    if blob and (known := app.told.get(repository.id, BLOB, blob, UNCHANGING)) is not None:
        return cast(bytes, known[0])
    content = await file_at(repository, path, sha)
    if blob and content is not None:
        app.told.put(repository.id, BLOB, blob, content)
    return content


async def by_a_workflow(repository: RepositoryHandle, sha: str) -> bool:
    """Whether a commit says that a workflow made it. For a server that does not list who pushed it."""
    found = await repository.get(f"commits/{sha}")
    people = (found.get("author") or {}, found.get("committer") or {})
    return any(each.get("login") == ACTIONS_BOT for each in people)


def runs_when_ready(on: Any, base: str) -> bool:
    """Whether a workflow with this `on` surely runs when a pull request into `base` stops being a draft."""
    wanted = on.get("pull_request") if isinstance(on, Mapping) else None
    if not isinstance(wanted, Mapping) or "ready_for_review" not in _listed(wanted.get("types")):
        return False
    return _takes({name: value for name, value in wanted.items() if name != "types"}, base)


def runs_for(on: Any, branch: str | None, base: str | None) -> bool:
    """Whether a workflow with this `on` surely runs for a push to `branch`, or for its pull request into `base`: for
    those of the two that are there."""
    events: Mapping[Any, Any]
    if isinstance(on, Mapping):
        events = on
    else:
        events = dict.fromkeys([on] if isinstance(on, str) else on if isinstance(on, list) else [])
    if branch is not None and "push" in events and _takes(events["push"], branch):
        return True
    return base is not None and "pull_request" in events and _takes(events["pull_request"], base)


def _takes(filters: Any, branch: str) -> bool:
    if not isinstance(filters, Mapping):
        return filters is None
    if "paths" in filters or "paths-ignore" in filters:
        return False
    if ("tags" in filters or "tags-ignore" in filters) and "branches" not in filters:
        return False
    if "types" in filters and not OPENING & {*_listed(filters["types"])}:
        return False
    if "branches-ignore" in filters:
        return not any(_matches(glob, branch) for glob in _listed(filters["branches-ignore"]))
    if "branches" not in filters:
        return True
    taken = False
    for glob in _listed(filters["branches"]):
        if _matches(glob.removeprefix("!"), branch):
            taken = not glob.startswith("!")
    return taken


def _listed(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def _matches(glob: str, name: str) -> bool:
    """GitHub's filter patterns: `*` stops at a slash, `**` does not; a class of characters is not understood here."""
    kinds = {"**": ".*", "*": "[^/]*", "?": "?", "+": "+"}
    try:
        return (
            re.fullmatch("".join(kinds.get(part, re.escape(part)) for part in _PARTS.findall(glob)), name) is not None
        )
    except re.error:
        return False
