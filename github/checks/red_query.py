"""What the red check runs of a commit left behind beside their logs, all in one query: failed steps and annotations."""

from collections.abc import Mapping
from typing import Any

from github.checks.answers import job_of_page
from github.checks.logs import Annotation, Job, Left, Step
from github.client.queries import QueryUnavailable
from github.client.repository import RepositoryHandle

SUITES, RUNS, MOST = 50, 20, 50
"""Of a commit, of a suite, and of a check run: what is not told whole is asked of REST."""

QUERY = f"""query($owner: String!, $name: String!, $sha: GitObjectID!) {{
  repository(owner: $owner, name: $name) {{
    databaseId object(oid: $sha) {{ ... on Commit {{ checkSuites(first: {SUITES}) {{ nodes {{
      checkRuns(first: {RUNS}, filterBy: {{
        checkType: ALL, conclusions: [FAILURE, TIMED_OUT, STARTUP_FAILURE, ACTION_REQUIRED, CANCELLED]
      }}) {{ nodes {{
        databaseId name conclusion detailsUrl url
        steps(first: {MOST}) {{ pageInfo {{ hasNextPage }} nodes {{ number name conclusion }} }}
        annotations(first: {MOST}) {{ pageInfo {{ hasNextPage }} nodes {{
          path annotationLevel title message location {{ start {{ line }} end {{ line }} }}
        }} }}
      }} }}
    }} }} }} }}
  }}
}}"""


async def left_by_red_runs(repository: RepositoryHandle, sha: str) -> dict[int, Left]:
    """By the ids of the check runs; empty where no query is to be had. What it does not tell whole is None."""
    try:
        found = await repository.query(QUERY, {"sha": sha})
    except QueryUnavailable:
        return {}
    suites = ((found.get("object") or {}).get("checkSuites") or {}).get("nodes") or ()
    runs = (run for suite in suites for run in (suite.get("checkRuns") or {}).get("nodes") or ())
    return {int(run["databaseId"]): Left(_job(run), _annotations(run)) for run in runs}


def _whole(connection: Mapping[str, Any] | None) -> list[Mapping[str, Any]] | None:
    if connection is None or (connection.get("pageInfo") or {}).get("hasNextPage"):
        return None
    return [each for each in connection.get("nodes") or () if each is not None]


def _job(run: Mapping[str, Any]) -> Job | None:
    """The job, if the check run's page is one's and its steps are told."""
    number, steps = job_of_page(run.get("detailsUrl"), run.get("url")), _whole(run.get("steps"))
    if number is None or not steps:
        return None
    return Job(
        id=number,
        name=str(run.get("name") or ""),
        status="completed",
        conclusion=str(run.get("conclusion") or "").lower(),
        steps=tuple(
            Step(int(each["number"]), str(each.get("name") or ""), str(each.get("conclusion") or "").lower())
            for each in steps
        ),
        check_run_id=int(run["databaseId"]),
    )


def _annotations(run: Mapping[str, Any]) -> tuple[Annotation, ...] | None:
    listed = _whole(run.get("annotations"))
    return None if listed is None else tuple(map(_annotation, listed))


def _annotation(found: Mapping[str, Any]) -> Annotation:
    place = found.get("location") or {}
    return Annotation(
        path=str(found.get("path") or ""),
        start_line=int((place.get("start") or {}).get("line") or 0),
        end_line=int((place.get("end") or {}).get("line") or 0),
        level=str(found.get("annotationLevel") or "notice").lower(),
        title=str(found.get("title") or ""),
        message=str(found.get("message") or ""),
    )
