"""What no exchange may ask of a GitHub on which somebody's work may lie."""

import re
from typing import Any

from graphql import FieldNode, GraphQLError, OperationDefinitionNode, OperationType, parse


class HarmfulRequest(Exception):
    """The request would change more than what the suite made itself."""


_SAFE_ROOTS = ("git/", "pulls", "issues", "labels", "statuses/", "check-runs", "check-suites", "contents/", "actions/")
_MERGE = re.compile(r"pulls/\d+/merge|merges|forks|dispatches|rulesets|branches/.*|actions/workflows/.*")
_SAFE_MUTATIONS = {
    "addComment",
    "closeIssue",
    "closePullRequest",
    "convertPullRequestToDraft",
    "createIssue",
    "createPullRequest",
    "markPullRequestReadyForReview",
}


def refuse(method: str, path: str, body: Any, repository: str, prefix: str) -> None:
    """Raise HarmfulRequest unless a write stays with branches below `prefix` and the conversations of the repository.

    `path` is the whole path. Reads pass, and of GraphQL the mutations of conversations.
    """
    if method in ("GET", "HEAD"):
        return
    if path == "/graphql":
        if harmful := _mutations(body) - _SAFE_MUTATIONS:
            raise HarmfulRequest(f"the mutation {', '.join(sorted(harmful))}")
        return
    root = f"/repos/{repository}/"
    if not path.startswith(root):
        if path.startswith(("/repos/", "/repositories/")):
            raise HarmfulRequest(f"{method} {path}: only {repository} may be written")
        return
    tail = path.removeprefix(root)
    if _MERGE.match(tail) or not tail.startswith(_SAFE_ROOTS):
        raise HarmfulRequest(f"{method} {path}")
    branch = _branch(method, tail, body)
    if branch is not None and not branch.startswith(prefix):
        raise HarmfulRequest(f"{method} {path} writes the branch {branch!r}, which is not below {prefix}")


def _mutations(body: Any) -> set[str]:
    """The names of the mutations in a request; nothing for what is no GraphQL, since that does nothing."""
    try:
        asked = parse(str((body or {}).get("query", "")))
    except GraphQLError:
        return set()
    return {
        field.name.value if isinstance(field, FieldNode) else "in a fragment"
        for operation in asked.definitions
        if isinstance(operation, OperationDefinitionNode) and operation.operation is OperationType.MUTATION
        for field in operation.selection_set.selections
    }


def _branch(method: str, tail: str, body: Any) -> str | None:
    """The branch that a write moves; None where it moves none."""
    fields = body if isinstance(body, dict) else {}
    if tail.startswith("contents/"):
        return str(fields.get("branch", ""))
    if tail == "git/refs":
        name = str(fields.get("ref", ""))
        return name.removeprefix("refs/heads/") if name.startswith("refs/heads/") else None
    if tail.startswith("git/refs/"):
        return tail.removeprefix("git/refs/").removeprefix("heads/")
    return None
