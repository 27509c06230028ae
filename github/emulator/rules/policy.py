"""Which ref updates are refused, and in which words: protection, rulesets, workflow files, hidden refs."""

import re
from dataclasses import dataclass
from typing import Any

from github.emulator.actor import Actor
from github.emulator.git import commits
from github.emulator.git.refs import Update
from github.emulator.git.repository import ZERO, GitError, GitRepository
from github.emulator.rules.rulesets import rules_for
from github.emulator.store.repositories import Repository, Ruleset

WORKFLOWS = ".github/workflows/"


@dataclass(frozen=True)
class Refused:
    """`reason` goes in brackets after the ref, `remote` are lines before it, `api` is what REST says."""

    reason: str
    remote: tuple[str, ...] = ()
    api: str = ""


def check(repository: Repository, actor: Actor, update: Update) -> Refused | None:
    """Why this update is refused, or None. The new objects are already in the repository."""
    if update.ref.startswith("refs/pull/"):
        return Refused("deny updating a hidden ref", api="Reference update failed")
    if update.ref == f"refs/heads/{repository.default_branch}" and update.new == ZERO:
        return Refused("refusing to delete the current branch: " + update.ref, api="Cannot delete the default branch")
    if not update.ref.startswith("refs/heads/"):
        return None
    branch = update.ref.removeprefix("refs/heads/")
    return (
        _protected(repository, actor, update, branch)
        or _ruled(repository, actor, update, branch)
        or _workflows(repository, actor, update)
    )


def _protected(repository: Repository, actor: Actor, update: Update, branch: str) -> Refused | None:
    protection = repository.protections.get(branch)
    if protection is None or not protection.refuse_pushes:
        return None
    if actor.kind == "user" and repository.role_of(actor.user) == "admin" and update.new != ZERO:
        return None
    remote = [f"error: GH006: Protected branch update failed for {update.ref}."]
    if update.new == ZERO:
        remote.append("error: Cannot delete this protected branch")
    elif protection.contexts:
        noun = "check is" if len(protection.contexts) == 1 else "checks are"
        count = len(protection.contexts)
        named = f'Required status check "{protection.contexts[0]}" is expected.'
        remote.append(f"error: {named if count == 1 else f'{count} of {count} required status {noun} expected.'}")
    else:
        remote.append("error: Changes must be made through a pull request.")
    return Refused("protected branch hook declined", tuple(remote), remote[-1].removeprefix("error: "))


def bypasses(actor: Actor, ruleset: Ruleset) -> bool:
    """Whether the ruleset does not bind who calls."""
    return actor.token is not None and actor.token.installation.app.id in ruleset.bypass


def _ruled(repository: Repository, actor: Actor, update: Update, branch: str) -> Refused | None:
    binding = [rule for ruleset, rule in rules_for(repository, branch) if not bypasses(actor, ruleset)]
    broken = [text for rule in binding if (text := _broken(repository.git, rule, update))]
    if not broken:
        return None
    remote = [f"error: GH013: Repository rule violations found for {update.ref}.", ""]
    for text in broken:
        remote += [f"- {text}", ""]
    api = "Repository rule violations found\n\n" + "\n\n".join(broken) + "\n\n"
    return Refused("push declined due to repository rule violations", tuple(remote), api)


def _broken(git: GitRepository, rule: dict[str, Any], update: Update) -> str | None:
    """The sentence of a broken rule, or None. Rules about merging alone never refuse a push."""
    kind, wanted = rule["type"], rule.get("parameters", {})
    if update.new == ZERO:
        return "Cannot delete this branch" if kind == "deletion" else None
    creates = update.old == ZERO
    if kind == "creation" and creates:
        return "Cannot create ref due to creations being restricted."
    if kind == "update" and not creates:
        return "Cannot update this protected ref."
    if kind == "non_fast_forward" and not creates and not git.is_ancestor(update.old, update.new):
        return "Cannot force-push to this branch"
    if kind == "pull_request" and not creates:
        return "Changes must be made through a pull request."
    if kind == "required_status_checks" and not (creates and wanted.get("do_not_enforce_on_create")):
        names = [check["context"] for check in wanted["required_status_checks"]]
        return None if creates else f'Required status check "{names[0]}" is expected.'
    if kind == "branch_name_pattern" and not _fits(wanted, update.ref.removeprefix("refs/heads/")):
        return f"Branch name must {_words(wanted)}"
    if kind not in ("required_signatures", "commit_author_email_pattern", "commit_message_pattern"):
        return None
    return next((text for commit in new_commits(git, update) if (text := _bad_commit(kind, wanted, commit))), None)


def _bad_commit(kind: str, wanted: dict[str, Any], commit: commits.Commit) -> str | None:
    if kind == "required_signatures":
        return None if commit.signature else "Commits must have verified signatures."
    value, noun = (
        (commit.author.email, "Author email") if kind == "commit_author_email_pattern" else (commit.message, "Message")
    )
    return None if _fits(wanted, value) else f"Commit {noun.lower()} must {_words(wanted)}: {commit.sha[:7]}"


def _fits(wanted: dict[str, Any], value: str) -> bool:
    pattern = wanted["pattern"]
    operator = wanted.get("operator", "regex")
    tests = {
        "starts_with": value.startswith(pattern),
        "ends_with": value.endswith(pattern),
        "contains": pattern in value,
        "regex": operator == "regex" and re.search(pattern, value) is not None,
    }
    return bool(tests[operator]) is not bool(wanted.get("negate", False))


def _words(wanted: dict[str, Any]) -> str:
    verb = {"starts_with": "start with", "ends_with": "end with", "contains": "contain", "regex": "match"}
    no = "not " if wanted.get("negate") else ""
    return f"{no}{verb[wanted.get('operator', 'regex')]} the pattern: {wanted['pattern']}"


def new_commits(git: GitRepository, update: Update) -> list[commits.Commit]:
    """The commits an update brings that no ref held before."""
    try:
        shas = git.text("rev-list", update.new, "--not", "--all").split()
    except GitError:
        return []
    return commits.read_many(git, shas) if shas else []


def _workflows(repository: Repository, actor: Actor, update: Update) -> Refused | None:
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
            return Refused(f"{text} permission", api=f"{text} permission")
    return None
