"""Commits and what is in them, as GraphQL shows them."""

from collections.abc import Callable
from typing import Any

from github.emulator.api.access import holds
from github.emulator.api.call import Call
from github.emulator.git import commits
from github.emulator.git.repository import GitError
from github.emulator.rest.graphql.checks import rollup_of, status_of, suite
from github.emulator.rest.graphql.errors import RefusedQuery
from github.emulator.rest.graphql.pages import connection
from github.emulator.store.repositories import Repository

Json = dict[str, Any]
MAX_TEXT = 512_000  # bytes of a blob whose text is told whole


def readable(call: Call, permission: str, field: Callable[..., Any]) -> Callable[..., Any]:
    """A field for which an installation token needs a permission; without, it is null, and an error tells why."""

    def resolve(info: Any, **wanted: Any) -> Any:
        if call.actor.token is not None and not holds(call.actor, permission, "read"):
            raise RefusedQuery("FORBIDDEN", "Resource not accessible by integration")
        return field(info, **wanted)

    return resolve


def commit(call: Call, repository: Repository, sha: str) -> Json:
    """`Commit`."""
    store, found = call.store, commits.read(repository.git, sha)
    return {
        "__typename": "Commit",
        "id": f"C_{sha}",
        "oid": sha,
        "message": found.message,
        "messageHeadline": found.headline,
        "tree": lambda _info: object_of(call, repository, found.tree, None),
        "statusCheckRollup": lambda _info: rollup_of(call, repository, sha),
        "status": readable(call, "statuses", lambda _info: status_of(call, repository, sha)),
        "checkSuites": readable(
            call, "checks", connection(lambda _: store.suites_of(repository, sha), lambda row: suite(call, row))
        ),
    }


def object_of(call: Call, repository: Repository, oid: str | None, expression: str | None) -> Json | None:
    """The object of a SHA, or of what `git rev-parse` makes of an expression such as `main:README.md`."""
    git = repository.git
    try:
        sha = git.text("rev-parse", "--verify", "--quiet", "--end-of-options", str(oid or expression))
    except GitError:
        return None
    kind = git.kind(sha)
    if kind == "commit":
        return commit(call, repository, sha)
    if kind == "tree":
        names = [{"name": each.path, "type": each.kind, "oid": each.sha} for each in git.tree(sha)]
        return {"__typename": "Tree", "oid": sha, "entries": names}
    return _blob(sha, git.read(sha)) if kind == "blob" else None


def _blob(sha: str, content: bytes) -> Json:
    binary = b"\0" in content[:8000]
    return {
        "__typename": "Blob",
        "oid": sha,
        "byteSize": len(content),
        "isBinary": binary,
        "isTruncated": len(content) > MAX_TEXT,
        "text": None if binary else content[:MAX_TEXT].decode("utf-8", "replace"),
    }
