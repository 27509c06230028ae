"""The fields of a check run as an App sends them, within GitHub's limits."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from github.emulator.api.call import Call
from github.emulator.errors import Refusal, unprocessable
from github.emulator.store.checks import CheckRun

CONCLUSIONS = ("action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out")
STATUSES = ("queued", "in_progress", "completed")
LEVELS = ("notice", "warning", "failure")
MAX_TEXT = 65_535
MAX_ANNOTATIONS = 50
MAX_ACTIONS = 3
_ACTION_LENGTHS = {"label": 20, "description": 40, "identifier": 20}


@dataclass
class Fields:
    """What was sent; None where nothing was."""

    status: str | None = None
    conclusion: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    details_url: str | None = None
    external_id: str | None = None
    output: dict[str, Any] | None = None
    annotations: list[dict[str, Any]] = field(default_factory=list)
    actions: list[dict[str, str]] | None = None


def _refuse(text: str) -> Refusal:
    return unprocessable(f"Invalid request.\n\n{text}")


def read(call: Call, creates: bool = False) -> Fields:
    """The fields of a create or update call. Raises `Refusal` 422."""
    found = Fields(
        status=call.get("status"),
        conclusion=call.get("conclusion"),
        started_at=_moment(call, "started_at"),
        completed_at=_moment(call, "completed_at"),
        details_url=call.get("details_url"),
        external_id=call.get("external_id"),
    )
    if found.status not in (None, *STATUSES):
        raise _refuse(f"{found.status} is not a member of {list(STATUSES)}.")
    if found.conclusion not in (None, *CONCLUSIONS):
        raise _refuse(f"{found.conclusion} is not a member of {list(CONCLUSIONS)}.")
    if found.status == "completed" and found.conclusion is None:
        raise _refuse('"conclusion" wasn\'t supplied.')
    if call.get("output") is not None:
        found.output = _output(call.get("output"), creates)
        found.annotations = [_annotation(item) for item in found.output.get("annotations") or []]
        if len(found.annotations) > MAX_ANNOTATIONS:
            raise _refuse(
                f"No more than {MAX_ANNOTATIONS} annotations allowed; {len(found.annotations)} were supplied."
            )
    if call.get("actions") is not None:
        found.actions = _actions(call.get("actions"))
    return found


def _moment(call: Call, name: str) -> datetime | None:
    value = call.get(name)
    if value is None:
        return None
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise _refuse(f"{value} is not a valid date-time.") from None


def _output(value: Any, creates: bool) -> dict[str, Any]:
    if not isinstance(value, dict) or not isinstance(value.get("summary"), str):
        raise _refuse('"summary" wasn\'t supplied.')
    if creates and not isinstance(value.get("title"), str):
        raise _refuse('"title" wasn\'t supplied.')
    for key in ("summary", "text"):
        if isinstance(value.get(key), str) and len(value[key]) > MAX_TEXT:
            raise _refuse(f"Only {MAX_TEXT} characters are allowed; {len(value[key])} were supplied.")
    return value


def _annotation(item: Any) -> dict[str, Any]:
    needed = {"path": str, "start_line": int, "end_line": int, "annotation_level": str, "message": str}
    for key, kind in needed.items():
        if not isinstance(item, dict) or not isinstance(item.get(key), kind):
            raise _refuse(f'"{key}" wasn\'t supplied.')
    if item["annotation_level"] not in LEVELS:
        raise _refuse(f"{item['annotation_level']} is not a member of {list(LEVELS)}.")
    return dict(item)


def _actions(value: Any) -> list[dict[str, str]]:
    if not isinstance(value, list) or len(value) > MAX_ACTIONS:
        raise _refuse(f"No more than {MAX_ACTIONS} items are allowed in actions.")
    for item in value:
        for key, most in _ACTION_LENGTHS.items():
            text = item.get(key) if isinstance(item, dict) else None
            if not isinstance(text, str) or not text:
                raise _refuse(f'"{key}" wasn\'t supplied.')
            if len(text) > most:
                raise _refuse(f"Only {most} characters are allowed for {key}; {len(text)} were supplied.")
    return [dict(item) for item in value]


def apply(row: CheckRun, sent: Fields, now: datetime) -> None:
    """Write what was sent into the run. A conclusion or an end completes it; annotations are added to those before."""
    if sent.conclusion is not None or sent.completed_at is not None:
        row.status, row.conclusion = "completed", sent.conclusion or row.conclusion or "neutral"
        row.completed_at = sent.completed_at or now
    elif sent.status is not None:
        row.status, row.conclusion, row.completed_at = sent.status, None, None
    if sent.started_at is not None or (row.status != "queued" and row.started_at is None):
        row.started_at = sent.started_at or now
    row.details_url = row.details_url if sent.details_url is None else sent.details_url
    row.external_id = row.external_id if sent.external_id is None else sent.external_id
    if sent.output is not None:
        row.title = sent.output.get("title", row.title)
        row.summary = sent.output["summary"]
        row.text = sent.output.get("text", row.text)
        row.annotations += sent.annotations
    if sent.actions is not None:
        row.actions = sent.actions
