"""What a branch requires of a pull request, and what GitHub's merge box says of it."""

from github.emulator.rules import rollup
from github.emulator.rules.rollup import Required, met
from github.emulator.rules.rulesets import rules_for
from github.emulator.store.issues import Pull
from github.emulator.store.repositories import Repository
from github.emulator.store.store import Store


def required(repository: Repository, branch: str) -> list[Required]:
    """The checks a branch asks for, from classic protection and rulesets together."""
    found = []
    protection = repository.protections.get(branch)
    if protection:
        found += [Required(name, protection.app_ids.get(name)) for name in protection.contexts]
    for _, rule in rules_for(repository, branch):
        if rule["type"] == "required_status_checks":
            for check in rule["parameters"]["required_status_checks"]:
                found.append(Required(check["context"], check.get("integration_id")))
    return found


def required_met(store: Store, repository: Repository, branch: str, sha: str) -> bool:
    """Whether every required check of the branch has passed on the commit."""
    return all(met(store, repository, need, sha) for need in required(repository, branch))


def mergeable_state(store: Store, pull: Pull) -> str:
    """`mergeable_state` of a pull request whose mergeability is known or not."""
    repository = pull.repository
    if pull.mergeable is None or not pull.open:
        return "unknown"
    if not pull.mergeable:
        return "dirty"
    if pull.draft:
        return "draft"
    protection = repository.protections.get(pull.base_ref)
    reviews = [r for r in store.reviews if r.pull is pull and r.state == "APPROVED"]
    if protection and len({r.user for r in reviews}) < protection.approvals:
        return "blocked"
    if not required_met(store, repository, pull.base_ref, pull.head_sha):
        return "blocked"
    if protection and protection.strict and not repository.git.is_ancestor(pull.base_sha, pull.head_sha):
        return "behind"
    return "unstable" if rollup.state(store, repository, pull.head_sha) in ("FAILURE", "PENDING") else "clean"
