"""What a step that begins is about to ask of a repository, in one query: its facts, two branches and a pull request.

The answers stand in for those of REST (`github.client.told`) for whoever is content with the age that this gives.
"""

from collections.abc import Mapping
from typing import Any

from github.client.queries import QueryUnavailable
from github.client.repository import RepositoryHandle
from github.repositories.pull_query import PULL as PULL_FIELDS
from github.repositories.pull_query import read_pull_node
from github.repositories.queries import FACTS, HEAD, NAMES, PULL, STEP, TREE, Facts

FACTS_FIELDS = """nameWithOwner isPrivate isArchived isDisabled isFork defaultBranchRef { name }
    owner { ... on User { databaseId } ... on Organization { databaseId } }"""
"""The fields of a repository that `read_facts` reads, beside `databaseId`."""
_TIP = "{ target { oid ... on Commit { tree { oid entries { name } } } } }"
QUERY = f"""query($owner: String!, $name: String!, $base: String!, $branch: String!, $number: Int!, $pull: Boolean!) {{
  repository(owner: $owner, name: $name) {{
    databaseId {FACTS_FIELDS} base: ref(qualifiedName: $base) {_TIP} branch: ref(qualifiedName: $branch) {_TIP}
    pullRequest(number: $number) @include(if: $pull) {{ {PULL_FIELDS} }}
  }}
}}"""


async def prefetch(repository: RepositoryHandle, *, base: str, branch: str, number: int | None = None) -> float:
    """Ask for the repository, the branches `base` and `branch`, and the pull request `number`.

    Gives the `max_age` with which this step asks for them; 0 where a query is not to be had, and each asks for itself.
    """
    heads = {"base": base, "branch": branch}
    variables: dict[str, str | int] = {each: f"refs/heads/{name}" for each, name in heads.items()}
    variables |= {"number": number or 0, "pull": number is not None}
    try:
        found = await repository.query(QUERY, variables)
    except QueryUnavailable:
        return 0.0
    told = repository.app.told
    if (facts := read_facts(found)) is not None:
        told.put(repository.id, FACTS, "", facts)
    for each, name in heads.items():
        tip = (found.get(each) or {}).get("target") or {}
        told.put(repository.id, HEAD, name, tip.get("oid"))
        if (tree := tip.get("tree")) is not None:
            told.put(repository.id, TREE, tip["oid"], tree["oid"])
            told.put(repository.id, NAMES, tip["oid"], frozenset(entry["name"] for entry in tree["entries"] or ()))
    if pull := found.get("pullRequest"):
        told.put(repository.id, PULL, str(number), read_pull_node(pull))
    return STEP


def read_facts(found: Mapping[str, Any]) -> Facts | None:
    """What a repository is like; None of one without a commit, of which a query does not tell the default branch."""
    default = found.get("defaultBranchRef")
    if default is None:
        return None
    return Facts(
        id=int(found["databaseId"]),
        full_name=str(found["nameWithOwner"]),
        default_branch=str(default["name"]),
        private=bool(found["isPrivate"]),
        archived=bool(found["isArchived"]),
        disabled=bool(found["isDisabled"]),
        fork=bool(found["isFork"]),
        owner_id=int((found.get("owner") or {}).get("databaseId") or 0),
    )
