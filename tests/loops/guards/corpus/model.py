"""A change for the test guard: what stands before and after, and the guard's answer by the way that a turn takes."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from github.repositories.config import RepositoryConfig
from k8s.runner.protocol import Change
from loops.guards import Finding, Proposal, examine
from tests.loops.guards.proposals import blob
from tests.loops.guards.suites import edit

RULES = RepositoryConfig(protected_paths=[], test_guard="block")
"""No path is protected, so that only the test guard can answer; what it finds is refused."""


@dataclass(frozen=True)
class Case:
    """`moved` is new path -> old path."""

    name: str
    before: Mapping[str, str]
    after: Mapping[str, str | None]
    moved: Mapping[str, str] = field(default_factory=dict)


def on(name: str, path: str, text: str, old: str, new: str, **more: str | None) -> Case:
    """One edit of one file, beside files that come (`more`)."""
    return Case(name, {path: text}, {path: edit(text, old, new), **more})


async def refused(case: Case, *, repair: bool) -> list[Finding]:
    """What the guard refuses of the change, as that of a turn that repairs a red check or of one that was asked for."""
    contents: dict[str, bytes] = {}
    changes: list[Change] = []
    diff: list[str] = []
    for path, after in case.after.items():
        old_path = case.moved.get(path, path)
        before = case.before.get(old_path)
        diff.append(patch_of(old_path if before is not None else None, path, before, after))
        if after is None:
            changes.append(Change(path, "100644", None))
            continue
        content = after.encode()
        contents[blob(content)] = content
        changes.append(Change(path, "100644", blob(content), len(content), case.moved.get(path)))

    async def content_of(sha: str) -> bytes:
        return contents[sha]

    found = await examine(Proposal(changes, "".join(diff), RULES, repair=repair), content_of, None, _here)
    return list(found.refusals)


async def _here(work: Callable[..., Any], *args: Any) -> Any:
    return work(*args)


def patch_of(old_path: str | None, path: str, before: str | None, after: str | None) -> str:
    """As git writes it."""
    if before == after:
        return ""
    left = "/dev/null" if before is None else f"a/{old_path}"
    right = "/dev/null" if after is None else f"b/{path}"
    lines = difflib.unified_diff(_lines(before), _lines(after), left, right, n=3)
    body = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return f"diff --git a/{old_path or path} b/{path}\n{body}"


def _lines(text: str | None) -> list[str]:
    return (text or "").splitlines(keepends=True)
