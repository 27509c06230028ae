"""A commit's checks and the pull request that it is the head of, by one query instead of four requests.

The nodes are read into the shapes of REST's answers, so that one place says what counts. What GraphQL does not know of
a workflow run, its attempt and its own status, is asked of REST as before.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from github.client.queries import QueryUnavailable
from github.client.repository import RepositoryHandle
from github.repositories.queries import Pull

MOST = 100  # of a connection's nodes in one query; a commit that has more is asked about by REST

_CHECK_RUN = """
  databaseId name status conclusion startedAt completedAt detailsUrl url externalId title summary text
  annotations { totalCount }
"""
_COMMIT = f"""
  oid
  status {{ contexts {{ context state description targetUrl createdAt avatarUrl }} }}
  checkSuites(first: {MOST}) {{
    pageInfo {{ hasNextPage }}
    nodes {{
      databaseId status conclusion updatedAt app {{ databaseId slug name }}
      latest: checkRuns(filterBy: {{checkType: LATEST}}) {{ totalCount }}
      checkRuns(first: {MOST}, filterBy: {{checkType: ALL}}) {{
        pageInfo {{ hasNextPage }} nodes {{ {_CHECK_RUN} }}
      }}
    }}
  }}
"""
_PULL = """
  number id url title body state isDraft merged mergeable mergeStateStatus maintainerCanModify
  author { __typename login ... on User { databaseId } ... on Bot { databaseId } }
  headRefName headRefOid headRepository { databaseId nameWithOwner }
  baseRefName baseRefOid baseRepository { databaseId } labels(first: 100) { nodes { name } }
"""
HEAD = f"""query($owner: String!, $name: String!, $sha: GitObjectID!) {{
  repository(owner: $owner, name: $name) {{ databaseId object(oid: $sha) {{ ... on Commit {{ {_COMMIT} }} }} }}
}}"""
HEAD_AND_PULL = f"""query($owner: String!, $name: String!, $sha: GitObjectID!, $number: Int!) {{
  repository(owner: $owner, name: $name) {{
    databaseId object(oid: $sha) {{ ... on Commit {{ {_COMMIT} }} }} pullRequest(number: $number) {{ {_PULL} }}
  }}
}}"""


class TooMany(Exception):
    """The commit has more checks than one query tells."""


@dataclass(frozen=True, slots=True)
class HeadAnswer:
    """What GitHub said, in the shapes of REST's lists of check runs, suites and statuses."""

    check_runs: list[dict[str, Any]]
    suites: list[dict[str, Any]]
    statuses: list[dict[str, Any]]
    pull: Pull | None


async def ask_head(repository: RepositoryHandle, sha: str, number: int | None, *, max_age: float = 0.0) -> HeadAnswer:
    """The checks of `sha`, and pull request `number`, as they were within the last `max_age` seconds.

    Raises TooMany, and QueryUnavailable also where there is no such commit or pull request: what is missing is told by
    REST.
    """
    variables: dict[str, str | int] = {"sha": sha} if number is None else {"sha": sha, "number": number}
    found = await repository.query(HEAD if number is None else HEAD_AND_PULL, variables, max_age=max_age)
    commit = found.get("object") or {}
    if commit.get("oid") != sha or (number is not None and not found.get("pullRequest")):
        raise QueryUnavailable
    suites = _nodes(commit.get("checkSuites"))
    return HeadAnswer(
        check_runs=[_check_run(run, suite) for suite in suites for run in _nodes(suite.get("checkRuns"))],
        suites=[_suite(suite) for suite in suites],
        statuses=[_status(each) for each in (commit.get("status") or {}).get("contexts") or ()],
        pull=_pull(found["pullRequest"]) if number is not None else None,
    )


def _nodes(connection: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    found = connection or {}
    if (found.get("pageInfo") or {}).get("hasNextPage"):
        raise TooMany
    return [each for each in found.get("nodes") or () if each is not None]


def _check_run(run: Mapping[str, Any], suite: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": run["databaseId"],
        "name": run.get("name"),
        "status": _lower(run.get("status")),
        "conclusion": _lower(run.get("conclusion")),
        "started_at": run.get("startedAt"),
        "completed_at": run.get("completedAt"),
        "details_url": run.get("detailsUrl"),
        "html_url": run.get("url"),
        "external_id": run.get("externalId"),
        "output": {
            "title": run.get("title"),
            "summary": run.get("summary"),
            "text": run.get("text"),
            "annotations_count": (run.get("annotations") or {}).get("totalCount"),
        },
        "check_suite": {"id": suite["databaseId"]},
        "app": _app(suite),
    }


def _suite(suite: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": suite["databaseId"],
        "status": _lower(suite.get("status")),
        "conclusion": _lower(suite.get("conclusion")),
        "updated_at": suite.get("updatedAt"),
        "latest_check_runs_count": (suite.get("latest") or {}).get("totalCount"),
        "app": _app(suite),
    }


def _app(suite: Mapping[str, Any]) -> dict[str, Any]:
    app = suite.get("app") or {}
    return {"id": app.get("databaseId"), "slug": app.get("slug"), "name": app.get("name")}


def _status(found: Mapping[str, Any]) -> dict[str, Any]:
    """A status: the newest of its context, which is all that GraphQL tells."""
    return {
        "context": found.get("context"),
        "state": _lower(found.get("state")),
        "description": found.get("description"),
        "target_url": found.get("targetUrl"),
        "updated_at": found.get("createdAt"),
        "avatar_url": found.get("avatarUrl"),
    }


def _pull(found: Mapping[str, Any]) -> Pull:
    author, top = found.get("author") or {}, found.get("headRepository") or {}
    state = str(found.get("state") or "")
    bot = "[bot]" if author.get("__typename") == "Bot" else ""  # which GraphQL leaves out
    return Pull(
        number=int(found["number"]),
        node_id=str(found.get("id") or ""),
        url=str(found.get("url") or ""),
        title=str(found.get("title") or ""),
        body=str(found.get("body") or ""),
        state="open" if state == "OPEN" else "closed",
        draft=bool(found.get("isDraft")),
        merged=bool(found.get("merged")),
        mergeable={"MERGEABLE": True, "CONFLICTING": False}.get(str(found.get("mergeable"))),
        mergeable_state=_lower(found.get("mergeStateStatus")) or "unknown",
        author=f"{author['login']}{bot}" if author.get("login") else "",
        author_id=int(author.get("databaseId") or 0),
        head_ref=str(found.get("headRefName") or ""),
        head_sha=str(found.get("headRefOid") or ""),
        head_repository_id=int(top.get("databaseId") or 0),
        head_full_name=str(top.get("nameWithOwner") or ""),
        base_ref=str(found.get("baseRefName") or ""),
        base_sha=str(found.get("baseRefOid") or ""),
        base_repository_id=int((found.get("baseRepository") or {}).get("databaseId") or 0),
        labels=tuple(_names((found.get("labels") or {}).get("nodes") or ())),
        maintainer_can_modify=bool(found.get("maintainerCanModify")),
    )


def _names(nodes: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    return (str(each.get("name") or "") for each in nodes)


def _lower(word: str | None) -> str | None:
    return word.lower() if word else None
