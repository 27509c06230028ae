"""What the rulesets of a repository would refuse of us, found out before any work is done.

GitHub tells the active rules of a branch of any name, whether or not it exists, to whoever may read the repository; who
may bypass a ruleset stands in the ruleset itself. Rules about what is in the files cannot be foreseen.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from github.checks.state import branch_rules
from github.client.errors import Forbidden, NotFound
from github.client.repository import RepositoryHandle

PUSHES = {
    "update": "nobody may push to it",
    "pull_request": "changes come through a pull request only",
    "required_status_checks": "only commits whose checks have passed may be pushed to it",
    "required_deployments": "only commits that were deployed may be pushed to it",
    "merge_queue": "changes come through the merge queue only",
}
KEPT = 3600.0  # seconds
_WORDS = {"starts_with": "start with", "ends_with": "end with", "contains": "contain", "regex": "match"}


@dataclass(frozen=True, slots=True)
class Push:
    """A push of a commit to a branch that `exists` or not: its author's email, and how its message begins, if known."""

    exists: bool
    email: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that we would break, in words, and the ruleset that it stands in."""

    ruleset: int
    text: str


async def would_refuse(repository: RepositoryHandle, branch: str, push: Push) -> tuple[str, ...]:
    """What stands against `push` to `branch`, in words for people. Rulesets that the App may bypass do not count."""
    found = broken(await branch_rules(repository, branch), branch, push)
    bypassed = {each: await _bypassed(repository, each) for each in {each.ruleset for each in found}}
    return tuple(dict.fromkeys(each.text for each in found if not bypassed[each.ruleset]))


async def takes_message(repository: RepositoryHandle, branch: str, message: str) -> bool:
    """Whether no rule of the branch stands against a commit with that message; those of the last hour will do."""
    rules = await branch_rules(repository, branch, max_age=KEPT)
    about_messages = [rule for rule in rules if rule.get("type") == "commit_message_pattern"]
    return not broken(about_messages, branch, Push(exists=True, message=message))


def broken(rules: Iterable[Mapping[str, Any]], branch: str, push: Push) -> tuple[Broken, ...]:
    """The rules that a push would break. Pure. Signatures are none of them: GitHub signs what we commit."""
    found = []
    for rule in rules:
        kind, wanted = str(rule.get("type") or ""), rule.get("parameters") or {}
        text = ""
        if kind == "creation" and not push.exists:
            text = f"a rule lets nobody create the branch `{branch}`"
        elif kind in PUSHES and push.exists:
            text = f"a rule guards the branch `{branch}`: {PUSHES[kind]}"
        elif kind == "branch_name_pattern" and not push.exists and not _fits(wanted, branch):
            text = f"a rule wants names of branches that {_words(wanted)}, and mine would be `{branch}`"
        elif kind == "commit_author_email_pattern" and push.email and not _fits(wanted, push.email):
            text = f"a rule wants commits by addresses that {_words(wanted)}, and mine are by `{push.email}`"
        elif kind == "commit_message_pattern" and push.message and not _may_fit(wanted, push.message):
            first = push.message.splitlines()[0]
            text = f"a rule wants messages of commits that {_words(wanted)}, and mine begins `{first}`"
        if text:
            found.append(Broken(int(rule.get("ruleset_id") or 0), text))
    return tuple(found)


async def _bypassed(repository: RepositoryHandle, ruleset: int) -> bool:
    try:
        found = await repository.get(f"rulesets/{ruleset}")
    except (NotFound, Forbidden):
        return False
    return found.get("current_user_can_bypass") in ("always", "exempt")


def _fits(wanted: Mapping[str, Any], value: str) -> bool:
    """Whether `value` is as a pattern rule wants it; a pattern that Python cannot read refuses nothing."""
    pattern = str(wanted.get("pattern") or "")
    match wanted.get("operator"):
        case "starts_with":
            found = value.startswith(pattern)
        case "ends_with":
            found = value.rstrip("\n").endswith(pattern)
        case "contains":
            found = pattern in value
        case _:
            try:
                found = re.search(pattern, value) is not None
            except re.error:
                return True
    return found is not bool(wanted.get("negate"))


def _may_fit(wanted: Mapping[str, Any], beginning: str) -> bool:
    """Whether a message with this beginning may be as it is wanted: what it is to contain may come later."""
    later = wanted.get("operator") in ("contains", "ends_with") and not wanted.get("negate")
    return later or _fits(wanted, beginning)


def _words(wanted: Mapping[str, Any]) -> str:
    verb = _WORDS.get(str(wanted.get("operator")), "match")
    return f"{'do not ' if wanted.get('negate') else ''}{verb} `{wanted.get('pattern')}`"
