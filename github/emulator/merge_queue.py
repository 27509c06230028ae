"""The merge queue of a branch: each pull request is tried on those before it, and merged when its checks are green.

As documented: https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
Groups have one pull request, merged as the rule says; there is no waiting for a group to fill or for late checks.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from github.emulator.acts import issues, merges, pulls, pushes
from github.emulator.acts.pushes import Merging
from github.emulator.forge import Event, Forge
from github.emulator.git import commits, refs
from github.emulator.git.refs import Update
from github.emulator.git.repository import ZERO
from github.emulator.rules import merging, rollup
from github.emulator.rules.rulesets import rules_for
from github.emulator.store.issues import Pull
from github.emulator.store.repositories import Repository
from github.emulator.store.users import User
from github.emulator.views.commits import simple_commit

FOLDER = "refs/heads/gh-readonly-queue"
_CHECK_EVENTS = ("check_run", "check_suite", "status", "workflow_run")


class CannotQueue(Exception):
    """The pull request cannot stand in the queue of its base branch; the text says why."""


@dataclass(eq=False)
class Entry:
    """A pull request in line, merged as `sha` on `base`, which is the head of its branch or the one before it."""

    id: int
    pull: Pull
    by: User
    base: str
    sha: str

    @property
    def ref(self) -> str:
        return f"{FOLDER}/{self.pull.base_ref}/pr-{self.pull.number}-{self.base}"


def has_queue(repository: Repository, branch: str) -> bool:
    return any(rule["type"] == "merge_queue" for _, rule in rules_for(repository, branch))


def _method(repository: Repository, branch: str) -> str:
    rules = [rule for _, rule in rules_for(repository, branch) if rule["type"] == "merge_queue"]
    return str((rules[0].get("parameters") or {}).get("merge_method", "MERGE")).lower() if rules else "merge"


class MergeQueue:
    """The queues of all branches, in line. `follow` hears of every event."""

    def __init__(self, forge: Forge) -> None:
        self._forge, self._store = forge, forge.store
        self._entries: list[Entry] = []
        self._last_id = 0
        self._busy = False

    def in_line(self, repository: Repository, branch: str) -> list[Entry]:
        return [e for e in self._entries if e.pull.repository is repository and e.pull.base_ref == branch]

    def entry(self, pull: Pull) -> Entry | None:
        return next((entry for entry in self._entries if entry.pull is pull), None)

    def add(self, pull: Pull, by: User) -> Entry:
        """Put a pull request at the end of its line. Raises `CannotQueue`."""
        pulls.compute_merge(self._store, pull)
        state = merging.mergeable_state(self._store, pull)
        if not has_queue(pull.repository, pull.base_ref):
            raise CannotQueue(f"The branch {pull.base_ref} has no merge queue")
        if self.entry(pull) is not None:
            raise CannotQueue("Pull request is already in the queue")
        if state not in ("clean", "unstable", "behind"):
            raise CannotQueue(f"Pull request is not mergeable: {state}")
        line = self.in_line(pull.repository, pull.base_ref)
        self._last_id += 1
        entry = Entry(self._last_id, pull, by, line[-1].sha if line else pull.base_sha, "")
        if not self._try(entry):
            raise CannotQueue("Pull request conflicts with those before it")
        with self._at_work():
            self._entries.append(entry)
            issues.tell(self._forge, pull.issue, "enqueued", by)
            self._begin(entry)
            self._settle(pull.repository)
        return entry

    def remove(self, pull: Pull, reason: str, by: User) -> bool:
        """Take a pull request out; those behind it are tried anew. False if it is not in line."""
        entry = self.entry(pull)
        if entry is None:
            return False
        with self._at_work():
            self._drop(entry, reason, by)
            self._settle(pull.repository)
        return True

    def follow(self, event: Event) -> None:
        """Checks may have come to an end, a pull request in line may have changed, its base may have moved."""
        if self._busy or not self._entries:
            return
        repository, payload = event.repository, event.payload
        if event.name == "pull_request" and event.action in ("synchronize", "closed", "converted_to_draft"):
            issue = self._store.issue(repository, payload["number"])
            if issue is not None and issue.pull is not None:
                self.remove(issue.pull, "MANUAL", event.sender)
        if event.name == "push" and payload["ref"].startswith("refs/heads/"):
            line = self.in_line(repository, payload["ref"].removeprefix("refs/heads/"))
            if line and line[0].base != payload["after"]:
                with self._at_work():
                    self._again(line, payload["after"])
        if event.name in _CHECK_EVENTS:
            with self._at_work():
                self._settle(repository)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """What the queue itself does is nothing for it to follow."""
        before, self._busy = self._busy, True
        try:
            yield
        finally:
            self._busy = before

    def _settle(self, repository: Repository) -> None:
        """Merge or drop whoever stands first, until the first one has to wait."""
        while any(self._decide(entry) for entry in self._first(repository)):
            pass

    def _drop(self, entry: Entry, reason: str, by: User) -> None:
        line = self.in_line(entry.pull.repository, entry.pull.base_ref)
        behind = line[line.index(entry) + 1 :]
        self._end(entry, "dequeued")
        issues.tell(self._forge, entry.pull.issue, "dequeued", by, reason=reason)
        self._again(behind, entry.base)

    def _first(self, repository: Repository) -> Iterator[Entry]:
        branches = {entry.pull.base_ref for entry in self._entries if entry.pull.repository is repository}
        return (self.in_line(repository, branch)[0] for branch in sorted(branches))

    def _decide(self, entry: Entry) -> bool:
        """Whether something was decided about the first one in line."""
        repository, pull = entry.pull.repository, entry.pull
        needs = merging.required(repository, pull.base_ref)
        if all(rollup.met(self._store, repository, need, entry.sha) for need in needs):
            self._end(entry, "merged")
            issues.tell(self._forge, pull.issue, "dequeued", entry.by, reason="MERGE")
            ref = f"refs/heads/{pull.base_ref}"
            refs.move(repository.git, ref, entry.sha, entry.base)
            moved = Update(entry.base, entry.sha, ref)
            merged = Merging(pull, "merge_queue_merge")
            pushes.pushed(self._forge, repository, moved, entry.by, merging=merged)
            return True
        if any(rollup.failed(self._store, repository, need, entry.sha) for need in needs):
            self._drop(entry, "CI_FAILURE", entry.by)
            return True
        return False

    def _try(self, entry: Entry) -> bool:
        """Merge it on `entry.base`; False where that conflicts."""
        way = merges.Way(_method(entry.pull.repository, entry.pull.base_ref))
        entry.sha = merges.merged_onto(self._forge, entry.pull, entry.base, way, entry.by) or ""
        return bool(entry.sha)

    def _begin(self, entry: Entry) -> None:
        """The branch of the group, and the word that its checks are wanted."""
        repository = entry.pull.repository
        refs.move(repository.git, entry.ref, entry.sha, ZERO)
        pushes.pushed(self._forge, repository, Update(ZERO, entry.sha, entry.ref), entry.by)
        self._tell(entry, "checks_requested")

    def _end(self, entry: Entry, reason: str) -> None:
        repository = entry.pull.repository
        if entry in self._entries:
            self._entries.remove(entry)
        self._tell(entry, "destroyed", reason=reason)
        refs.delete(repository.git, entry.ref)
        pushes.pushed(self._forge, repository, Update(entry.sha, ZERO, entry.ref), entry.by)

    def _again(self, line: list[Entry], base: str) -> None:
        """Try these anew, the first of them on `base`; what conflicts now falls out."""
        for entry in line:
            self._end(entry, "invalidated")
        for entry in line:
            entry.base = base
            if not self._try(entry):
                issues.tell(self._forge, entry.pull.issue, "dequeued", entry.by, reason="MERGE_CONFLICT")
                continue
            base = entry.sha
            self._entries.append(entry)
            self._begin(entry)

    def _tell(self, entry: Entry, action: str, **extra: Any) -> None:
        repository = entry.pull.repository
        group = {
            "head_sha": entry.sha,
            "head_ref": entry.ref,
            "base_sha": entry.base,
            "base_ref": f"refs/heads/{entry.pull.base_ref}",
            "head_commit": simple_commit(commits.read(repository.git, entry.sha)),
        }
        self._forge.emit("merge_group", action, {"merge_group": group} | extra, repository, entry.by)
