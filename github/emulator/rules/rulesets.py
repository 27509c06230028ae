"""Which rulesets bind a branch."""

import fnmatch
from collections.abc import Iterator
from typing import Any

from github.emulator.store.repositories import Repository, Ruleset


def _matches(ruleset: Ruleset, repository: Repository, ref: str) -> bool:
    def one(pattern: str) -> bool:
        if pattern == "~ALL":
            return True
        if pattern == "~DEFAULT_BRANCH":
            return ref == f"refs/heads/{repository.default_branch}"
        return fnmatch.fnmatchcase(ref, pattern)

    return any(map(one, ruleset.include)) and not any(map(one, ruleset.exclude))


def rules_for(repository: Repository, branch: str) -> Iterator[tuple[Ruleset, dict[str, Any]]]:
    """Active ruleset rules of a branch, whether or not it exists."""
    for ruleset in repository.rulesets:
        if ruleset.active and _matches(ruleset, repository, f"refs/heads/{branch}"):
            for rule in ruleset.rules:
                yield ruleset, rule
