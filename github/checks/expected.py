"""Which workflows a commit's own files promise to run: GitHub may take minutes until a run of a push is to be seen.

Only promises without a doubt count: a workflow with a filter on paths may be right not to run.
"""

import re
from collections.abc import Mapping
from typing import Any

from github.checks.model import Run
from github.client.errors import Forbidden, GitHubError, NotFound
from github.client.repository import RepositoryHandle
from github.repositories.queries import file_at
from github.repositories.yamltext import read_yaml

FOLDER = ".github/workflows"
ACTIONS_BOT = "github-actions[bot]"
OPENING = frozenset({"opened", "synchronize", "reopened"})  # what a pull request that was just pushed to comes with
_PARTS = re.compile(r"\*\*|\*|\?|\+|[^*?+]+")


async def late_workflows(
    repository: RepositoryHandle, sha: str, runs: tuple[Run, ...], *, branch: str, base: str | None
) -> tuple[str, ...]:
    """The paths of the workflows that have to run for this commit on `branch`, and have no run yet.

    `base` is the base of its pull request, None without one. Nothing where the commit was pushed with a workflow's own
    GITHUB_TOKEN, which starts no workflows.
    """
    try:
        listed = await repository.get(f"contents/{FOLDER}", params={"ref": sha})
    except (NotFound, Forbidden):
        return ()
    paths = [str(each["path"]) for each in listed if str(each.get("name")).endswith((".yml", ".yaml"))]
    begun = {run.path for run in runs}
    late = []
    for path in paths:
        if path not in begun and await _promised(repository, path, sha, branch, base):
            late.append(path)
    return () if late and await _by_a_workflow(repository, sha) else tuple(late)


async def _promised(repository: RepositoryHandle, path: str, sha: str, branch: str, base: str | None) -> bool:
    try:
        node, problems = read_yaml(await file_at(repository, path, sha) or b"")
    except GitHubError:
        return False
    if problems or node is None or not isinstance(node.value, dict):
        return False
    return runs_for(node.value.get("on", node.value.get(True)), branch, base)  # YAML 1.1 reads a bare `on` as true


async def _by_a_workflow(repository: RepositoryHandle, sha: str) -> bool:
    found = await repository.get(f"commits/{sha}")
    people = (found.get("author") or {}, found.get("committer") or {})
    return any(each.get("login") == ACTIONS_BOT for each in people)


def runs_for(on: Any, branch: str, base: str | None) -> bool:
    """Whether a workflow with this `on` surely runs for a push to `branch`, or for its pull request into `base`."""
    events: Mapping[Any, Any]
    if isinstance(on, Mapping):
        events = on
    else:
        events = dict.fromkeys([on] if isinstance(on, str) else on if isinstance(on, list) else [])
    if "push" in events and _takes(events["push"], branch):
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
