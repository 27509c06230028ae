"""Whether an event starts a workflow."""

import re
from dataclasses import dataclass, field
from typing import Any

from github.workflows import globs
from github.workflows.workflow import WorkflowSpec

_SKIP = ("[skip ci]", "[ci skip]", "[no ci]", "[skip actions]", "[actions skip]")
_DEFAULT_TYPES = ("opened", "synchronize", "reopened")


@dataclass(frozen=True)
class Occasion:
    """What happened. `branch` is the branch (of a pull request: its base), `paths` the files that changed.

    `source` is the name of the workflow whose run this is about.
    """

    event: str
    ref: str
    branch: str | None
    tag: str | None = None
    action: str | None = None
    paths: list[str] = field(default_factory=list)
    source: str | None = None


def skips(message: str) -> bool:
    """Whether a head commit's message says that nothing shall run."""
    last = message.rstrip().rsplit("\n", 1)[-1]
    return any(word in message for word in _SKIP) or bool(re.fullmatch(r"skip-checks:\s*true", last, re.IGNORECASE))


def _patterns(filters: dict[str, Any], key: str) -> list[str] | None:
    value = filters.get(key)
    if value is None:
        return None
    return [value] if isinstance(value, str) else [str(item) for item in value]


def starts(spec: WorkflowSpec, occasion: Occasion) -> bool:
    """Whether the workflow's `on:` wants this occasion."""
    filters = spec.triggers.get(occasion.event)
    if filters is None:
        return False
    types = _patterns(filters, "types")
    if types is None and occasion.event in ("pull_request", "pull_request_target"):
        types = list(_DEFAULT_TYPES)
    if types is not None and occasion.event not in ("push", "schedule") and occasion.action not in types:
        return False
    if occasion.event == "workflow_run" and occasion.source not in (_patterns(filters, "workflows") or []):
        return False
    return _refs_fit(filters, occasion) and _paths_fit(filters, occasion)


def _refs_fit(filters: dict[str, Any], occasion: Occasion) -> bool:
    branches, tags = _patterns(filters, "branches"), _patterns(filters, "tags")
    not_branches, not_tags = _patterns(filters, "branches-ignore"), _patterns(filters, "tags-ignore")
    if occasion.tag is not None:
        if tags is not None:
            return globs.matches(tags, occasion.tag)
        if not_tags is not None:
            return not globs.matches(not_tags, occasion.tag)
        # only branch filters: no tag starts it
        return branches is None and not_branches is None
    name = occasion.branch or ""
    if branches is not None:
        return globs.matches(branches, name)
    if not_branches is not None:
        return not globs.matches(not_branches, name)
    return tags is None and not_tags is None


def _paths_fit(filters: dict[str, Any], occasion: Occasion) -> bool:
    if occasion.tag is not None:
        return True
    wanted, ignored = _patterns(filters, "paths"), _patterns(filters, "paths-ignore")
    if wanted is not None:
        return globs.any_path(wanted, occasion.paths)
    return ignored is None or not globs.all_ignored(ignored, occasion.paths)
