"""GitHub's answers about checks, read into values. Whatever may be null or missing there is."""

import re
from collections.abc import Mapping
from typing import Any
from zlib import crc32

from github.checks.model import ACTIONS, Check, Kind, Run
from github.client.tokens import timestamp

_JOB_PAGE = re.compile(r"/actions/runs/\d+/job/(\d+)")
_APP_AVATAR = re.compile(r"/in/(\d+)(?:\?|$)")  # how GitHub shows who made a status: an App's picture has the App's id


def read_run(found: Mapping[str, Any]) -> Run:
    """A workflow run."""
    return Run(
        id=int(found["id"]),
        attempt=int(found.get("run_attempt") or 1),
        workflow_id=int(found.get("workflow_id") or 0),
        name=str(found.get("name") or found.get("path") or ""),
        path=str(found.get("path") or "").partition("@")[0],
        event=str(found.get("event") or ""),
        status=str(found.get("status") or ""),
        conclusion=str(found.get("conclusion") or ""),
        suite_id=int(found.get("check_suite_id") or 0),
        url=str(found.get("html_url") or ""),
        changed_at=time_of(found.get("updated_at")),
        branch=str(found.get("head_branch") or ""),
        created_at=time_of(found.get("created_at")),
    )


def read_check_run(found: Mapping[str, Any], run: Run | None, *, is_job: bool) -> Check:
    """A check run; `run` is the workflow run that its suite belongs to."""
    app, output = found.get("app") or {}, found.get("output") or {}
    status = str(found.get("status") or "")
    started, completed = time_of(found.get("started_at")), time_of(found.get("completed_at"))
    return Check(
        kind=Kind.JOB if is_job else Kind.CHECK_RUN,
        id=int(found["id"]),
        name=str(found.get("name") or ""),
        app_id=app_id_of(found),
        app=str(app.get("slug") or ""),
        conclusion=str(found.get("conclusion") or "neutral") if status == "completed" else "",
        waiting=status == "waiting",
        suite_id=suite_id_of(found),
        run_id=run.id if run else 0,
        run_attempt=run.attempt if run else 0,
        workflow=run.name if run else "",
        url=str(found.get("html_url") or found.get("details_url") or ""),
        external_id=str(found.get("external_id") or ""),
        title=str(output.get("title") or ""),
        summary=str(output.get("summary") or ""),
        text=str(output.get("text") or ""),
        annotations=int(output.get("annotations_count") or 0),
        changed_at=max(started, completed),
        workflow_id=run.workflow_id if run else 0,
        path=run.path if run else "",
        started_at=started,
        completed_at=completed,
        undecided=is_job and run is not None and run.open,
        branch=run.branch if run else "",
    )


def read_status(found: Mapping[str, Any]) -> Check:
    """A commit status. Which app made it is told by the picture only. Its context is its identity, also for GitHub: of
    several of one context the newest counts. A number is made of it, since GraphQL tells none."""
    context = str(found.get("context") or "default")
    state = str(found.get("state") or "pending")
    made_by = _APP_AVATAR.search(str(found.get("avatar_url") or ""))
    return Check(
        kind=Kind.STATUS,
        id=crc32(context.encode("utf-8", "replace")),
        name=context,
        app_id=int(made_by[1]) if made_by else 0,
        app="",
        conclusion={"pending": "", "error": "failure"}.get(state, state),
        url=str(found.get("target_url") or ""),
        title=str(found.get("description") or ""),
        changed_at=time_of(found.get("updated_at") or found.get("created_at")),
    )


def of_run(run: Run) -> Check:
    """A workflow run as a check of its own."""
    return Check(
        kind=Kind.WORKFLOW,
        id=run.id,
        name=run.name,
        app_id=0,
        app=ACTIONS,
        conclusion=(run.conclusion or "neutral") if run.status == "completed" else "",
        waiting=run.status == "waiting",
        suite_id=run.suite_id,
        run_id=run.id,
        run_attempt=run.attempt,
        workflow=run.name,
        url=run.url,
        title=run.path,
        changed_at=run.changed_at,
        workflow_id=run.workflow_id,
        path=run.path,
        branch=run.branch,
    )


def of_suite(found: Mapping[str, Any]) -> Check:
    """A completed check suite as a check of its own."""
    app = found.get("app") or {}
    return Check(
        kind=Kind.SUITE,
        id=int(found.get("id") or 0),
        name=str(app.get("name") or app.get("slug") or "check suite"),
        app_id=app_id_of(found),
        app=str(app.get("slug") or ""),
        conclusion=str(found.get("conclusion") or "neutral"),
        suite_id=int(found.get("id") or 0),
        changed_at=time_of(found.get("updated_at")),
    )


def has_job_page(found: Mapping[str, Any]) -> bool:
    """Whether a check run leads to the page of a job: check runs that a workflow makes by the API have other pages."""
    return job_of_page(found.get("details_url"), found.get("html_url")) is not None


def job_of_page(*pages: str | None) -> int | None:
    """The id of the job whose page is among these addresses."""
    found = next(filter(None, (_JOB_PAGE.search(page or "") for page in pages)), None)
    return int(found[1]) if found else None


def app_id_of(found: Mapping[str, Any]) -> int:
    """The app of a check run or suite, 0 where none is told."""
    return int((found.get("app") or {}).get("id") or 0)


def suite_id_of(found: Mapping[str, Any]) -> int:
    """The suite of a check run."""
    return int((found.get("check_suite") or {}).get("id") or 0)


def time_of(text: str | None) -> float:
    """GitHub's time as Unix seconds, 0 where it is none."""
    try:
        return timestamp(text) if text else 0.0
    except ValueError:
        return 0.0
