"""Branches with what protects them."""

from typing import Any

from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, not_found
from github.emulator.git import commits, refs
from github.emulator.rules.policy import bypasses
from github.emulator.rules.rulesets import rules_for
from github.emulator.store.repositories import Protection, Ruleset
from github.emulator.views import commits as views
from github.emulator.views import repositories

REPO = "/repos/{owner}/{repo}"
BRANCH = f"{REPO}/branches/{{branch}}"


def _checks(protection: Protection | None) -> dict[str, Any]:
    contexts = protection.contexts if protection else []
    pins = protection.app_ids if protection else {}
    return {
        "enforcement_level": "non_admins" if contexts else "off",
        "contexts": contexts,
        "checks": [{"context": name, "app_id": pins.get(name)} for name in contexts],
    }


def _ruled(call: Call, branch: str) -> bool:
    return any(True for _ in rules_for(call.repository, branch))


def listed(call: Call) -> Listing:
    base = f"{repositories.url(call.store, call.repository)}"

    def show(item: tuple[str, str]) -> dict[str, Any]:
        name, sha = item
        protection = call.repository.protections.get(name)
        return {
            "name": name,
            "commit": {"sha": sha, "url": f"{base}/commits/{sha}"},
            "protected": protection is not None or _ruled(call, name),
        }

    return Listing(list(refs.branches(call.repository.git).items()), show)


def get(call: Call) -> Answer:
    """With the required checks of classic protection, which needs no admin right; rulesets only show as protected."""
    repository, name = call.repository, call.params["branch"]
    sha = refs.sha_of(repository.git, f"refs/heads/{name}")
    if sha is None or call.ref_lags("ref", repository, f"refs/heads/{name}"):
        raise Refusal(404, "Branch not found")
    protection = repository.protections.get(name)
    base = repositories.url(call.store, repository)
    body = {
        "name": name,
        "commit": views.commit(call.store, repository, commits.read(repository.git, sha)),
        "_links": {
            "self": f"{base}/branches/{name}",
            "html": f"{call.store.origins.web}/{repository.full_name}/tree/{name}",
        },
        "protected": protection is not None or _ruled(call, name),
        "protection": {"enabled": protection is not None, "required_status_checks": _checks(protection)},
        "protection_url": f"{base}/branches/{name}/protection",
    }
    return Answer(200, body)


def protection(call: Call) -> Answer:
    """Classic protection only: rulesets are not in here."""
    name = call.params["branch"]
    if refs.sha_of(call.repository.git, f"refs/heads/{name}") is None:
        raise Refusal(404, "Branch not found")
    found = call.repository.protections.get(name)
    if found is None:
        raise Refusal(404, "Branch not protected")
    url = f"{repositories.url(call.store, call.repository)}/branches/{name}/protection"
    body: dict[str, Any] = {
        "url": url,
        "enforce_admins": {"url": f"{url}/enforce_admins", "enabled": False},
        "required_linear_history": {"enabled": False},
        "allow_force_pushes": {"enabled": False},
        "allow_deletions": {"enabled": False},
    }
    if found.contexts:
        checks = {"url": f"{url}/required_status_checks", "strict": found.strict}
        body["required_status_checks"] = checks | {
            "contexts": found.contexts,
            "contexts_url": f"{url}/required_status_checks/contexts",
            "checks": _checks(found)["checks"],
        }
    if found.approvals:
        body["required_pull_request_reviews"] = {
            "url": f"{url}/required_pull_request_reviews",
            "dismiss_stale_reviews": False,
            "require_code_owner_reviews": False,
            "required_approving_review_count": found.approvals,
        }
    return Answer(200, body)


def rules(call: Call) -> Listing:
    """The active ruleset rules of a branch of that name, whether it exists or not."""

    def show(item: Any) -> dict[str, Any]:
        ruleset, rule = item
        source = {
            "ruleset_source_type": "Repository",
            "ruleset_source": call.repository.full_name,
            "ruleset_id": ruleset.id,
        }
        return dict(rule) | source

    return Listing(list(rules_for(call.repository, call.params["branch"])), show)


def rulesets(call: Call) -> Listing:
    """In short: with neither rules nor conditions."""
    return Listing(list(call.repository.rulesets), lambda row: _ruleset(call, row))


def _ruleset(call: Call, row: Ruleset) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "target": "branch",
        "source_type": "Repository",
        "source": call.repository.full_name,
        "enforcement": "active" if row.active else "disabled",
    }


def ruleset(call: Call) -> Answer:
    """One ruleset, with whether it binds who asks. Conditions and bypass actors are for administrators only."""
    repository, wanted = call.repository, call.number("ruleset_id")
    found = next((row for row in repository.rulesets if row.id == wanted), None)
    if found is None:
        raise not_found()
    body = _ruleset(call, found) | {
        "current_user_can_bypass": "always" if bypasses(call.actor, found) else "never",
        "rules": found.rules,
    }
    return Answer(200, body)


ROUTES = [
    Route("GET", f"{REPO}/branches", listed, "contents:read"),
    Route("GET", BRANCH, get, "contents:read"),
    Route("GET", f"{BRANCH}/protection", protection, "administration:read", "admin"),
    Route("GET", f"{REPO}/rulesets", rulesets, "metadata:read"),
    Route("GET", f"{REPO}/rulesets/{{ruleset_id}}", ruleset, "metadata:read"),
    Route("GET", f"{REPO}/rules/branches/{{branch}}", rules, "metadata:read"),
]
