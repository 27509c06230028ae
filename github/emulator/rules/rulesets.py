"""Which rulesets bind a branch, and what their rules say of a push."""

import re
from collections.abc import Iterator
from typing import Any

from github.emulator.git import commits
from github.emulator.git.refs import Update
from github.emulator.git.repository import ZERO, GitError, GitRepository
from github.emulator.rules import rollup
from github.emulator.rules.contents import broken_by_files
from github.emulator.store.repositories import Repository, Ruleset
from github.emulator.store.store import Store


def _matches(ruleset: Ruleset, repository: Repository, ref: str) -> bool:
    def one(pattern: str) -> bool:
        if pattern == "~ALL":
            return True
        if pattern == "~DEFAULT_BRANCH":
            return ref == f"refs/heads/{repository.default_branch}"
        return fits_ref(pattern, ref)

    return any(map(one, ruleset.include)) and not any(map(one, ruleset.exclude))


def fits_ref(pattern: str, ref: str) -> bool:
    """Whether a ref is as a ruleset's pattern: Ruby's `File.fnmatch` with FNM_PATHNAME, where `*` stops at a slash.

    https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/creating-rulesets-for-a-repository#using-fnmatch-syntax
    """
    out, at = "", 0
    while at < len(pattern):
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            out, at = out + "(?:[^/]+/)*", at + 3
            continue
        char = pattern[at]
        end = pattern.find("]", at + 2)
        if char == "[" and end > 0:
            inside = pattern[at + 1 : end].replace("\\", "\\\\")
            out, at = f"{out}[{'^' + inside[1:] if inside[0] in '!^' else inside}]", end + 1
            continue
        if char == "\\" and at + 1 < len(pattern):
            at += 1
            char = re.escape(pattern[at])
        else:
            char = {"*": "[^/]*", "?": "[^/]"}.get(char) or re.escape(char)
        out, at = out + char, at + 1
    return re.fullmatch(out, ref) is not None


def rules_for(repository: Repository, branch: str) -> Iterator[tuple[Ruleset, dict[str, Any]]]:
    """Active ruleset rules of a branch, whether or not it exists."""
    for ruleset in repository.rulesets:
        if ruleset.active and _matches(ruleset, repository, f"refs/heads/{branch}"):
            for rule in ruleset.rules:
                yield ruleset, rule


def broken(store: Store, repository: Repository, rule: dict[str, Any], update: Update) -> str | None:
    """The sentence of a broken rule, or None. Rules about merging alone never refuse a push."""
    kind, wanted, git = rule["type"], rule.get("parameters", {}), repository.git
    if update.new == ZERO:
        return "Cannot delete this branch" if kind == "deletion" else None
    creates = update.old == ZERO
    if kind == "creation" and creates:
        return "Cannot create ref due to creations being restricted."
    if kind == "update" and not creates:
        return "Cannot update this protected ref."
    if kind == "non_fast_forward" and not creates and not git.is_ancestor(update.old, update.new):
        return "Cannot force-push to this branch"
    if kind in ("pull_request", "merge_queue") and not creates:
        way = "the merge queue" if kind == "merge_queue" else "a pull request"
        return f"Changes must be made through {way}."
    if kind == "required_status_checks" and not creates:
        needs = [rollup.Required(each["context"], each.get("integration_id")) for each in _contexts(wanted)]
        missing = [need.context for need in needs if not rollup.met(store, repository, need, update.new)]
        return f'Required status check "{missing[0]}" is expected.' if missing else None
    if kind == "branch_name_pattern" and not _fits(wanted, update.ref.removeprefix("refs/heads/")):
        return f"Branch name must {_words(wanted)}"
    new = new_commits(git, update)
    return next((text for commit in new if (text := _bad_commit(kind, wanted, commit))), None) or broken_by_files(
        git, kind, wanted, new
    )


def _contexts(wanted: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = wanted["required_status_checks"]
    return found


def _bad_commit(kind: str, wanted: dict[str, Any], commit: commits.Commit) -> str | None:
    if kind == "required_signatures":
        return None if commit.signature else "Commits must have verified signatures."
    if kind == "required_linear_history":
        return "This branch must not contain merge commits." if len(commit.parents) > 1 else None
    people = {"commit_author_email_pattern": commit.author, "committer_email_pattern": commit.committer}
    if kind in people and not _fits(wanted, people[kind].email):
        noun = "author" if kind == "commit_author_email_pattern" else "committer"
        return f"Commit {noun} email must {_words(wanted)}: {commit.sha[:7]}"
    if kind == "commit_message_pattern" and not _fits(wanted, commit.message):
        return f"Commit message must {_words(wanted)}: {commit.sha[:7]}"
    return None


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
