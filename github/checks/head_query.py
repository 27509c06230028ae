"""A commit's checks and the pull request that it is the head of, by one query instead of four requests.

The nodes are read into the shapes of REST's answers, so that one place says what counts. What GraphQL does not know of
a workflow run, its attempt and its own status, is asked of REST as before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from github.client.queries import QueryUnavailable
from github.client.repository import RepositoryHandle
from github.repositories import queries
from github.repositories.pull_query import PULL, read_pull_node
from github.repositories.queries import WORKFLOWS_FOLDER, Pull

MOST_COMMITS = 4  # of which one query tells who reported
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
HEAD = f"""query($owner: String!, $name: String!, $sha: GitObjectID!) {{
  repository(owner: $owner, name: $name) {{ databaseId object(oid: $sha) {{ ... on Commit {{ {_COMMIT} }} }} }}
}}"""
HEAD_AND_PULL = f"""query($owner: String!, $name: String!, $sha: GitObjectID!, $number: Int!, $workflows: String!) {{
  repository(owner: $owner, name: $name) {{
    databaseId object(oid: $sha) {{ ... on Commit {{ {_COMMIT} }} }}
    pullRequest(number: $number) {{ {PULL} baseRef {{ target {{ oid }} }} }}
    workflows: object(expression: $workflows) {{ ... on Tree {{ entries {{ name oid }} }} }}
  }}
}}"""
"""With what else a look at a pull request's head needs: where its base is now, and the files of the workflows."""

_REPORTERS = f"""{{ ... on Commit {{
  oid
  status {{ contexts {{ context state }} }}
  checkSuites(first: {MOST}) {{
    pageInfo {{ hasNextPage }}
    nodes {{
      databaseId app {{ databaseId slug name }}
      checkRuns(first: {MOST}, filterBy: {{checkType: LATEST}}) {{
        pageInfo {{ hasNextPage }} nodes {{ databaseId name }}
      }}
    }}
  }}
}} }}"""
REPORTERS = f"""query(
  $owner: String!, $name: String!, $a: GitObjectID!, $b: GitObjectID!, $c: GitObjectID!, $d: GitObjectID!
) {{
  repository(owner: $owner, name: $name) {{
    databaseId
    a: object(oid: $a) {_REPORTERS} b: object(oid: $b) {_REPORTERS}
    c: object(oid: $c) {_REPORTERS} d: object(oid: $d) {_REPORTERS}
  }}
}}"""
"""Who reported on several commits, without what they said."""


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
    variables: dict[str, str | int] = {"sha": sha}
    if number is not None:
        variables |= {"number": number, "workflows": f"{sha}:{WORKFLOWS_FOLDER}"}
    found = await repository.query(HEAD if number is None else HEAD_AND_PULL, variables, max_age=max_age)
    commit = found.get("object") or {}
    if commit.get("oid") != sha or (number is not None and not found.get("pullRequest")):
        raise QueryUnavailable
    if number is not None:
        _remember(repository, sha, found)
    suites = _nodes(commit.get("checkSuites"))
    return HeadAnswer(
        check_runs=[_check_run(run, suite) for suite in suites for run in _nodes(suite.get("checkRuns"))],
        suites=[_suite(suite) for suite in suites],
        statuses=[_status(each) for each in (commit.get("status") or {}).get("contexts") or ()],
        pull=read_pull_node(found["pullRequest"]) if number is not None else None,
    )


async def ask_reporters(
    repository: RepositoryHandle, shas: Sequence[str], *, max_age: float = 0.0
) -> dict[str, HeadAnswer]:
    """The names and apps of what reported on each of up to MOST_COMMITS commits; those that are not there are left out.
    What GitHub said within the last `max_age` seconds will do. Raises TooMany and QueryUnavailable.
    """
    if not shas:
        return {}
    variables: dict[str, str | int] = {
        place: shas[min(at, len(shas) - 1)] for at, place in enumerate("abcd"[:MOST_COMMITS])
    }
    found = await repository.query(REPORTERS, variables, max_age=max_age)
    answers = {}
    for place in variables:
        commit = found.get(place) or {}
        if sha := commit.get("oid"):
            suites = _nodes(commit.get("checkSuites"))
            answers[str(sha)] = HeadAnswer(
                [_check_run(run, suite) for suite in suites for run in _nodes(suite.get("checkRuns"))],
                [_suite(suite) for suite in suites],
                [_status(each) for each in (commit.get("status") or {}).get("contexts") or ()],
                None,
            )
    return answers


def _remember(repository: RepositoryHandle, sha: str, found: Mapping[str, Any]) -> None:
    pull, told = found["pullRequest"], repository.app.told
    if (tip := (pull.get("baseRef") or {}).get("target")) is not None:
        told.put(repository.id, queries.HEAD, str(pull["baseRefName"]), tip["oid"])
    files = {str(each["name"]): str(each["oid"]) for each in (found.get("workflows") or {}).get("entries") or ()}
    told.put(repository.id, queries.WORKFLOWS, sha, files)


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


def _lower(word: str | None) -> str | None:
    return word.lower() if word else None
