"""Which ref updates are refused, and in which words: protection, rulesets, workflow files, hidden refs."""

from dataclasses import dataclass

from github.emulator.actor import Actor
from github.emulator.git.refs import Update
from github.emulator.git.repository import ZERO
from github.emulator.rules import rollup
from github.emulator.rules.rulesets import broken, new_commits, rules_for
from github.emulator.store.repositories import Repository, Ruleset
from github.emulator.store.store import Store

WORKFLOWS = ".github/workflows/"


@dataclass(frozen=True)
class RefusedPush:
    """`reason` goes in brackets after the ref, `remote` are lines before it; REST answers `status` and says `api`."""

    reason: str
    remote: tuple[str, ...] = ()
    api: str = ""
    status: int = 422


def check(store: Store, repository: Repository, actor: Actor, update: Update) -> RefusedPush | None:
    """Why this update is refused, or None. The new objects are already in the repository."""
    if update.ref.startswith("refs/pull/"):
        return RefusedPush("deny updating a hidden ref", api="Reference update failed")
    if update.ref == f"refs/heads/{repository.default_branch}" and update.new == ZERO:
        return RefusedPush(
            "refusing to delete the current branch: " + update.ref, api="Cannot delete the default branch"
        )
    if not update.ref.startswith("refs/heads/"):
        return None
    branch = update.ref.removeprefix("refs/heads/")
    return (
        _protected(store, repository, actor, update, branch)
        or _ruled(store, repository, actor, update, branch)
        or _workflows(repository, actor, update)
    )


def _protected(store: Store, repository: Repository, actor: Actor, update: Update, branch: str) -> RefusedPush | None:
    protection = repository.protections.get(branch)
    if protection is None or not protection.refuse_pushes:
        return None
    if actor.kind == "user" and repository.role_of(actor.user) == "admin" and update.new != ZERO:
        return None
    remote = [f"error: GH006: Protected branch update failed for {update.ref}."]
    if update.new == ZERO:
        remote.append("error: Cannot delete this protected branch")
    elif rollup.all_met(store, repository, protection, update.new):
        return None
    elif protection.contexts:
        noun = "check is" if len(protection.contexts) == 1 else "checks are"
        count = len(protection.contexts)
        named = f'Required status check "{protection.contexts[0]}" is expected.'
        remote.append(f"error: {named if count == 1 else f'{count} of {count} required status {noun} expected.'}")
    else:
        remote.append("error: Changes must be made through a pull request.")
    return RefusedPush("protected branch hook declined", tuple(remote), remote[-1].removeprefix("error: "))


def bypasses(actor: Actor, ruleset: Ruleset) -> bool:
    """Whether the ruleset does not bind who calls."""
    return actor.token is not None and actor.token.installation.app.id in ruleset.bypass


def _ruled(store: Store, repository: Repository, actor: Actor, update: Update, branch: str) -> RefusedPush | None:
    binding = [rule for ruleset, rule in rules_for(repository, branch) if not bypasses(actor, ruleset)]
    found = [text for rule in binding if (text := broken(store, repository, rule, update))]
    if not found:
        return None
    remote = [f"error: GH013: Repository rule violations found for {update.ref}.", ""]
    for text in found:
        remote += [f"- {text}", ""]
    api = "Repository rule violations found\n\n" + "\n\n".join(found) + "\n\n"
    return RefusedPush("push declined due to repository rule violations", tuple(remote), api)


def _workflows(repository: Repository, actor: Actor, update: Update) -> RefusedPush | None:
    """An App without `workflows` may not bring workflow files that the repository's refs have not already."""
    if actor.token is None or "workflows" in actor.token.permissions or update.new == ZERO:
        return None
    git = repository.git
    for commit in new_commits(git, update):
        flags = ["-r", "--name-only", "-z", "--diff-filter=ACMRT", "--no-commit-id", "--root", "-c"]
        names = git.run("diff-tree", *flags, commit.sha, "--", WORKFLOWS).decode(errors="replace").split("\0")
        touched = next((name for name in names if name), None)
        if touched is not None:
            text = f"refusing to allow a GitHub App to create or update workflow `{touched}` without `workflows`"
            return RefusedPush(f"{text} permission", api="Resource not accessible by integration", status=403)
    return None
